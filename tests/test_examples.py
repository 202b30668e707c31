"""The examples in docstrings give what they say."""

import doctest
import importlib
import pkgutil

import inlier
from cases import cases

FOUND = [found.name for found in pkgutil.walk_packages(inlier.__path__, "inlier.")]
# The kernels of GPUs need Triton, the strategies Flower, and the detector PyOD.
APART = ("__main__", "data.fused", "federated.flower", "inlier.pyod")
MODULES = [name for name in FOUND if not name.endswith(APART)]


@cases("name", ["inlier", *MODULES])
def test_examples(name):
    module = importlib.import_module(name)
    finder = doctest.DocTestFinder(exclude_empty=True)
    runner = doctest.DocTestRunner()
    for example in finder.find(module, globs=dict(vars(module))):
        runner.run(example)
    assert runner.failures == 0


def test_there_are_examples():
    finder = doctest.DocTestFinder(exclude_empty=True)
    for public in (inlier.robust_mean, inlier.RobustMean, inlier.compare, inlier.methods):
        assert any(found.examples for found in finder.find(public))
