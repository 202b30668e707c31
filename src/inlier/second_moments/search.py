"""Undue directions and the rows that make them so, in turn."""

import warnings
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy.special import gammaincinv
from sklearn.exceptions import ConvergenceWarning

from inlier._internal.arrays import double, every, on_host
from inlier._internal.numbers import TINY
from inlier._internal.typing import Array, Mask, Rows
from inlier.api import robust_mean
from inlier.data import Frame, Rotation, Table
from inlier.second_moments.directions import (
    bulk_scales,
    distinct,
    log_ratios,
    skewness,
    undue_directions,
    units,
)
from inlier.second_moments.products import products
from inlier.second_moments.settings import SETTINGS, SecondMomentSettings

# Variances below this fraction of the largest hold rounding, or nothing.
RELATIVE = 1e-10


def undue_rows(
    table: Table,
    support: Rows,
    location: Array,
    gaussian: bool | None = None,
    standardized: bool = True,
    settings: SecondMomentSettings = SETTINGS,
) -> Rows:
    """Return the mask of the rows of `support` that have an undue part in the second moments.

    `location` is the mean of the support. If it is not known whether good rows are Gaussian (None),
    they are taken to be where along most directions they look so; elsewhere no row is undue.
    Principal axes are those of the covariance or, if `standardized`, of the correlations.

    Some 3 passes, and a copy of the rows along those axes that are examined.
    """
    rows = table if every(support) else table.take(support)
    m, d = rows.shape
    if m < settings.fewest_rows:
        return support & ~support
    # With fewer rows than columns their span has all there is to see.
    rotation = Rotation.of(rows, location) if m < d else None
    frame = Frame(table, support, rows, location, rotation)
    coordinates = _principal(frame, standardized, settings)
    undue = np.zeros(coordinates.rows.shape[1], dtype=np.bool_)
    if len(coordinates.rows):
        undue = ~_kept(coordinates, gaussian, settings)
    return frame.of_all_rows(table.to_device(undue), False)


class _Coordinates(NamedTuple):
    """Rows in principal coordinates, in which all of them together have covariance I."""

    rows: Array
    """q x m."""
    axes: list[Array]
    """Sets of q directions to look along: the principal axes and, if all of these are examined,
    the nearest to the columns, and the columns themselves."""


def _principal(frame: Frame, standardized: bool, settings: SecondMomentSettings) -> _Coordinates:
    """Compute principal coordinates, as many as there are enough rows for; two passes."""
    table, m = frame.table, frame.near_rows.shape[0]
    center = frame.center
    covariance, drift = table.scatter(center, double(table.constant(1.0)))
    covariance = covariance / m - np.outer(drift, drift) / m**2
    unit = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    if frame.rotation is not None or not standardized:
        unit = np.full(len(unit), unit.max(initial=0.0))
    unit = np.where(unit > TINY, unit, np.inf)  # what does not vary has no part in anything
    values, vectors = np.linalg.eigh(covariance / unit / unit[:, None])
    values, vectors = values[::-1], vectors[:, ::-1]
    held = values > max(RELATIVE * values[0], 0.0)
    held[m // settings.rows_per_axis :] = False
    values, vectors = values[held], vectors[:, held]
    whitener = (vectors / np.sqrt(values)).T / unit
    rows = double(on_host(table.project(center + drift / m, whitener)))
    axes = [np.eye(len(values))]
    if len(values) == table.shape[1] > 1 and frame.rotation is None:
        axes += [vectors, units(vectors * np.sqrt(values))]
    return _Coordinates(np.ascontiguousarray(rows), axes)


def _kept(coordinates: _Coordinates, gaussian: bool | None, settings: SecondMomentSettings) -> Mask:
    """Return which rows have no undue part, in a metric that is theirs."""
    rows, axes = coordinates
    q, m = rows.shape
    if gaussian:  # then any excess is evidence
        settings = replace(settings, least=0.0)
    everything = np.ones(m, dtype=np.bool_)
    kept, n_known = everything, 0
    for n_round in range(settings.rounds):
        mean = rows[:, kept].mean(axis=1, keepdims=True)
        root, inverse = _roots(np.cov(rows[:, kept], bias=True).reshape(q, q))
        Z = inverse @ (rows - mean)
        found = undue_directions(Z[:, kept], [units(a @ root) for a in axes], settings)
        if not gaussian and not found.few:
            return everything
        known = _turned(Z, n_known, None if gaussian else settings)
        chosen = distinct(
            np.concatenate([known, found.directions]), settings.most_directions, settings.distinct
        )
        fresh = len(chosen) > len(known) or n_round == 0
        if not gaussian and not len(chosen):
            return everything
        Y = _second_moments(Z, kept, chosen, fresh)
        last, kept = kept, _fewest_removed(Y)
        if kept.sum() < settings.majority * m:
            return everything
        n_known = len(chosen)
        if not fresh and np.array_equal(last, kept):
            break
    return kept


def _roots(covariance: Array) -> tuple[Array, Array]:
    """Return the symmetric square root of a covariance, and its inverse."""
    values, vectors = np.linalg.eigh(covariance)
    values = np.sqrt(np.maximum(values, RELATIVE))
    return (vectors * values) @ vectors.T, (vectors / values) @ vectors.T


def _turned(Z: Array, k: int, settings: SecondMomentSettings | None) -> Array:
    """Return the k directions in which all rows exceed the kept ones most, whose covariance is I.

    So the undue directions turn towards the rows that left for them. With settings, those are left
    out along which the rows turn out to be one-sided, or little more than their bulk.
    """
    directions = np.linalg.eigh(Z @ Z.T)[1].T[::-1][:k]
    if settings is not None and len(directions):
        T = directions @ Z
        undue = (log_ratios(T) > settings.least) & (skewness(T) <= settings.skewed)
        directions = directions[undue]
    return np.asarray(directions)


def _second_moments(Z: Array, kept: Mask, chosen: Array, fresh: bool) -> Array:
    """Return the products of the rows along the chosen directions, and their other lengths.

    Where a direction is new, the variance of the kept rows is that of bad rows too: the unit is the
    scale of their bulk.
    """
    P = chosen @ Z
    columns = len(Z) - len(P)
    rest = np.sum(Z * Z, axis=0) - np.sum(P * P, axis=0)
    if fresh:
        P = P / np.maximum(bulk_scales(P[:, kept]), TINY)[:, None]
        if columns:
            median = 2.0 * gammaincinv(columns / 2.0, 0.5)  # of their chi-squared distribution
            rest = rest * (median / max(float(np.median(rest[kept])), TINY))
    return products(P, rest if columns else None, columns)


def _fewest_removed(Y: Array) -> Mask:
    """Return the rows that are left where the fewest leave for the others to vary like Gaussian.

    The variance of all combinations of columns is 2, or what chance makes of it in so many rows.
    """
    n, d = Y.shape
    sigma = np.sqrt(2.0) * (1.0 + np.sqrt(d / n))
    with warnings.catch_warnings():
        # Where it ends early, more rows than necessary are kept or removed, and the next round
        # begins from there.
        warnings.simplefilter("ignore", ConvergenceWarning)
        return np.asarray(robust_mean(Y, sigma=float(sigma)).support)
