"""Fits whose every statement is checked, and options by name, as tables of cases have them."""

import warnings
from dataclasses import fields, replace

import numpy as np
from sklearn.exceptions import ConvergenceWarning

import inlier
import statements
from inlier.l0 import Options

NAMES = [option.name for option in fields(Options)]


def arguments(given):
    """Arguments of `inlier.robust_mean`, with those of its problem in one place."""
    l0 = {name: given[name] for name in NAMES if given.get(name) is not None}
    others = {name: value for name, value in given.items() if name not in NAMES}
    return {**others, "l0": replace(others.get("l0", Options()), **l0)} if l0 else others


def robust_mean(X, **given):
    return inlier.robust_mean(X, **arguments(given))


def quietly(function, *given, **options):
    """What a function returns, whatever it says about the data."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", inlier.WeakEvidenceWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        return function(*given, **options)


def fitted(X, dense=None, **options):
    """A fit with no other warning than that of weak evidence, all of whose statements are true."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", inlier.WeakEvidenceWarning)
        result = robust_mean(X, **options)._with_labels(None)
    X = np.asarray(X if dense is None else dense)
    statements.check(X, result)
    if result.location.dtype == np.float64 and np.abs(X).max() < 1e100:
        assert result.certificate.verify(X).faults == ()
    return result
