"""The list of all methods: complete, readable, and each given just what it needs."""

import inspect
import re

import pytest
from sklearn.base import clone

import inlier
from cases import cases
from inlier.l0 import Options
from inlier.research import baselines
from inlier.research.baselines import BASELINES
from inlier.research.comparison.registry import methods

OURS = ["inlier", "inlier-sigma", "paper-l1", "paper-lp"]
METHODS = methods()
each_entry = cases("entry", METHODS.values())
GIVEN = {"alpha": 0.125, "sigma": 2.5}


def test_all_methods_are_listed_ours_first():
    assert list(METHODS) == [*OURS, *(method.name for method in BASELINES)]
    assert len(METHODS) == len(OURS) + len(BASELINES)  # a name twice would hide one of them
    assert inlier.research.methods is methods
    written = {
        value
        for name in ("simple", "filters", "reweighting", "few_rows")
        for value in vars(getattr(baselines, name)).values()
        if inspect.isclass(value) and getattr(value, "name", None)
    }
    assert written <= set(BASELINES)


@each_entry
def test_just_what_is_needed_is_given(entry):
    estimator = entry.make(**GIVEN)
    expected = clone(entry.estimator()).get_params() | entry.fixed
    expected |= {name: GIVEN[name] for name in entry.needs}
    assert type(estimator) is entry.estimator and estimator.get_params() == expected
    if "random_state" in expected:
        assert entry.make(**GIVEN, random_state=17).random_state == 17
    with pytest.raises(TypeError, match=r"colour|takes no arguments"):
        entry.make(**GIVEN, colour="red")


def test_what_a_name_fixes_can_be_overruled():
    assert METHODS["paper-l1"].make(sigma=1.0).l0.surrogate == "l1"
    other = Options(surrogate="reweighted-l2")
    assert METHODS["paper-l1"].make(sigma=1.0, l0=other).l0 is other


@cases("method", BASELINES)
def test_sources_and_own_parameters_are_documented(method):
    text = inspect.getdoc(method)
    own = set(inspect.signature(method).parameters) - {"alpha", "sigma", "random_state"}
    assert own == set(re.findall(r"^(\w+) : ", text, re.MULTILINE))
    if method.name != "mean":
        references = text.partition("References\n")[2]
        assert re.search(r"\((1[89]|20)\d\d\)", references)
        # The registry names the same first author.
        if method.paper != "folklore":
            assert re.split(r"[ ,(]", method.paper)[0] in references
