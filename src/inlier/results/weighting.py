"""The weighted mean of rows that were judged with each counted once."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from inlier._internal.arrays import any_true, like, on_host
from inlier._internal.numbers import TINY
from inlier._internal.typing import Array
from inlier.data import Table, as_table
from inlier.results.rules import Suspect

if TYPE_CHECKING:
    from inlier.results.certificate import Certificate
    from inlier.results.result import RobustMeanResult


def weighted(result: RobustMeanResult) -> RobustMeanResult:
    """Return the same fit with the mean weighted by `sample_weight`, if there is one.

    Which rows are kept, scores and certificate stay as they are, and are about rows that count
    once. So does the location of a fit that keeps no row. One pass, and two for each suspect.
    """
    if result.sample_weight is None or not any_true(result.support):
        return result
    weights = on_host(result.weights) * result.sample_weight
    if not weights.any():
        raise ValueError(
            "sample_weight is zero in every kept row, so that there is no weighted mean of them. "
            "Give some of them a weight, or leave sample_weight out."
        )
    weights = weights / weights.max()
    table = as_table(result.known_data().table)
    once = on_host(result.location).astype(np.float64)
    mean, mass = table.observed_mean(weights, once)
    gaps = result.gaps
    if gaps is not None:
        gaps = replace(gaps, all_missing=np.flatnonzero(mass == 0.0))

    def noted(certificate: Certificate) -> Certificate:
        return replace(certificate, weighted=True)

    return replace(
        result,
        location=like(mean, result.location, result.location.dtype),
        unweighted=result.location,
        weights=like(weights, result.weights),
        certificate=noted(result.certificate),
        path=tuple(replace(x, certificate=noted(x.certificate)) for x in result.path),
        suspects=tuple(_moved(suspect, table, weights, mean) for suspect in result.suspects),
        gaps=gaps,
        n_passes=table.n_passes,
    )


def effective_size(weights: Array) -> float:
    """Return how many rows of one weight have a mean of the same variance, (sum w)^2 / sum w^2."""
    mass = float(weights.sum())
    return mass * (mass / float(weights @ weights)) if mass > 0.0 else 0.0


def _moved(suspect: Suspect, table: Table, weights: Array, mean: Array) -> Suspect:
    """Return a suspect with how far the weighted mean moves without it."""
    others = weights.copy()
    others[on_host(suspect.rows)] = 0.0
    if not others.any():
        return replace(suspect, shift=np.nan)
    offset = table.observed_mean(others, mean)[0] - mean
    length = float(np.linalg.norm(offset))
    if length == 0.0:
        return replace(suspect, shift=0.0)
    along = on_host(table.project(mean, offset[None] / length))[0].astype(np.float64)
    inside = weights > 0.0
    variance = float(weights[inside] @ along[inside] ** 2) / float(weights.sum())
    error = float(np.sqrt(variance / effective_size(weights)))
    return replace(suspect, shift=length / max(error, TINY))
