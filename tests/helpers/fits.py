"""Fits with the options of the published algorithm given by name, as tables of cases have them."""

from dataclasses import fields, replace

import inlier
from inlier.l0 import Options

NAMES = [option.name for option in fields(Options)]


def arguments(given):
    """Arguments of `inlier.robust_mean`, with those of its problem in one place."""
    l0 = {name: given[name] for name in NAMES if given.get(name) is not None}
    others = {name: value for name, value in given.items() if name not in NAMES}
    return {**others, "l0": replace(others.get("l0", Options()), **l0)} if l0 else others


def robust_mean(X, **given):
    return inlier.robust_mean(X, **arguments(given))
