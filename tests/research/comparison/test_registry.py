"""The list of all methods: complete, readable, and each told just what it needs."""

import ast
import importlib
import inspect
import pkgutil
import re
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone

import inlier
from cases import cases
from inlier.research import baselines
from inlier.research.baselines import BASELINES, Baseline
from inlier.research.comparison.registry import Method, methods
from reference import contaminated

OURS = ["inlier", "inlier-sigma", "paper-l1", "paper-lp"]
METHODS = methods()
each_baseline = cases("method", BASELINES)
each_entry = cases("entry", METHODS.values())


def test_all_methods_are_listed_ours_first():
    assert list(METHODS) == [*OURS, *(method.name for method in BASELINES)]
    assert len(METHODS) == len(OURS) + len(BASELINES)  # a name twice would hide one of them
    assert [METHODS[method.name].estimator for method in BASELINES] == list(BASELINES)
    for name, entry in METHODS.items():
        assert entry.name == name


def test_every_method_that_is_written_is_listed():
    written = set()
    for module in pkgutil.iter_modules(baselines.__path__):
        contents = vars(importlib.import_module(f"inlier.research.baselines.{module.name}"))
        written |= {
            value
            for value in contents.values()
            if inspect.isclass(value)
            and issubclass(value, Baseline)
            and not inspect.isabstract(value)
        }
    assert written == set(BASELINES)


def test_every_method_is_exported_by_its_class():
    for method in BASELINES:
        assert method.__name__ in baselines.__all__
        assert getattr(baselines, method.__name__) is method
    assert set(baselines.__all__) == {"BASELINES", "Baseline"} | {m.__name__ for m in BASELINES}


def test_the_list_is_new_at_each_call():
    first = methods()
    del first["inlier"]
    assert (
        "inlier" in methods()
        and inlier.research.methods is methods
        and inlier.research.Method is Method
    )


def test_names_are_words():
    for name in METHODS:
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name)


@each_entry
def test_an_entry_is_readable(entry):
    line = str(entry)
    assert line.startswith(entry.name) and "\n" not in line and "  needs " in line.ljust(26)
    assert f"needs {' and '.join(entry.needs) or 'nothing'} " in line
    assert entry.summary in line and line.endswith(f"[{entry.paper}]")
    # One sentence, on one line, that says something.
    assert entry.summary.endswith(".") and len(entry.summary.split()) >= 4
    assert "\n" not in entry.summary
    assert entry.paper and "estimator" not in repr(entry)


def test_entries_stand_in_columns():
    starts = {str(entry).index(" needs ") for entry in METHODS.values()}
    assert len(starts) == 1


@each_entry
def test_an_entry_cannot_be_changed(entry):
    with pytest.raises(AttributeError):
        entry.name = "other"


# -- what is told ---------------------------------------------------------------------------------


@each_entry
def test_what_is_needed_can_be_told(entry):
    assert set(entry.needs) <= {"alpha", "sigma"}
    parameters = inspect.signature(entry.estimator).parameters
    assert set(entry.needs) | set(entry.fixed) <= set(parameters)


@each_entry
def test_just_what_is_needed_is_told(entry):
    estimator = entry.make(alpha=0.125, sigma=2.5)
    assert type(estimator) is entry.estimator
    expected = clone(entry.estimator()).get_params()
    expected |= entry.fixed
    expected |= {name: {"alpha": 0.125, "sigma": 2.5}[name] for name in entry.needs}
    assert estimator.get_params() == expected


@each_entry
def test_what_is_needed_and_not_told_is_asked_for(entry):
    told = {"alpha": 0.1, "sigma": 2.0}
    for name in entry.needs:
        known = {other: value for other, value in told.items() if other != name}
        estimator = entry.make(**known)
        if entry.name in OURS:  # finds sigma by itself
            assert estimator.sigma is None
        else:
            with pytest.raises(ValueError, match=f"needs {name}, .* pass {name}=..."):
                estimator.fit(contaminated())


@each_entry
def test_parameters_are_passed_on(entry):
    parameters = inspect.signature(entry.estimator).parameters
    if "random_state" in parameters:
        estimator = entry.make(alpha=0.1, sigma=2.0, random_state=17)
        assert estimator.random_state == 17
    with pytest.raises(TypeError, match=r"colour|takes no arguments"):
        entry.make(alpha=0.1, sigma=2.0, colour="red")


def test_what_a_name_fixes_can_be_overruled():
    assert METHODS["paper-l1"].make(sigma=1.0).get_params()["surrogate"] == "l1"
    overruled = METHODS["paper-l1"].make(sigma=1.0, surrogate="reweighted-l2")
    assert overruled.get_params()["surrogate"] == "reweighted-l2"


@each_entry
def test_each_finds_the_mean(entry):
    X = contaminated()
    found = entry.make(alpha=0.1, sigma=1.5).fit(X)
    error = np.linalg.norm(found.location_ - X[6:].mean(axis=0))
    # The mean of all rows is 1.2 away, a row about 2.
    assert error < (2.5 if entry.name in ("mean", "krum") else 0.7)
    assert found.result_.location is found.location_


# -- documentation --------------------------------------------------------------------------------


def sections(method):
    """The headings of a numpydoc docstring, with their text."""
    parts = re.split(r"\n([A-Z][a-z]+)\n-+\n", inspect.cleandoc(method.__doc__))
    return dict(zip(parts[1::2], parts[2::2], strict=True))


@each_baseline
def test_every_parameter_is_documented(method):
    documented = re.findall(r"^(\w+(?:, \w+)*) : ", sections(method).get("Parameters", ""), re.M)
    names = [name for entry in documented for name in entry.split(", ")]
    assert names == list(inspect.signature(method).parameters)


@each_baseline
def test_defaults_are_those_documented(method):
    text = sections(method).get("Parameters", "")
    for name, parameter in inspect.signature(method).parameters.items():
        (line,) = re.findall(rf"^{name} : (.*)$", text, re.M)
        if name in method.needs:
            assert parameter.default is None and "default" not in line
        elif parameter.default is not None:
            (default,) = re.findall(r"default=(.*)$", line)
            assert ast.literal_eval(default) == parameter.default
        else:
            assert "optional" in line or "default=None" in line


@each_baseline
def test_the_source_is_named(method):
    if method.name in ("mean", "coordinate-median"):
        return  # older than references
    references = sections(method)["References"]
    assert re.search(r"\((1[89]|20)\d\d\)", references)
    # The registry names the same first author.
    if method.paper not in ("-", "folklore"):
        assert re.split(r"[ ,(]", method.paper)[0] in references


@each_baseline
def test_the_first_sentence_says_what_is_done(method):
    first = inspect.cleandoc(method.__doc__).split("\n\n")[0]
    assert first.count("\n") == 0 and len(first.split(".")[0].split()) > 4


@each_baseline
def test_there_is_a_file_for_each_paper(method):
    file = Path(inspect.getfile(method))
    assert file.parent == Path(baselines.__path__[0])
    others = [other for other in BASELINES if inspect.getfile(other) == str(file)]
    # Two in a file are two forms of one method.
    assert len(others) <= 2
