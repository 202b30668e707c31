"""The rows behind a robust covariance: without those that inflate the covariance of the others."""

import warnings
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from scipy.special import gammaincinv
from sklearn.exceptions import ConvergenceWarning

from inlier._internal.arrays import double, every, mask_of, on_host, scattered
from inlier._internal.numbers import TINY
from inlier._internal.typing import Array, Mask, Rows, Seed
from inlier._internal.validation import check_choice
from inlier.api import robust_mean
from inlier.covariance.directions import (
    LEAST,
    SKEWED,
    bulk_scales,
    distinct,
    inflated_directions,
    log_ratios,
    skewness,
    units,
)
from inlier.covariance.missing import Moments, moments_of
from inlier.data import Rotation, Table, as_table
from inlier.data.checks import check_table
from inlier.results.result import RobustMeanResult

MomentAssumption = Literal["auto", "gaussian", "nothing"]

# Variances below this fraction of the largest are rounding errors.
RELATIVE = 1e-10


class GoodRows(NamedTuple):
    """The rows that count, and their mean."""

    support: Rows
    location: Array
    mean_result: RobustMeanResult
    """The fit of the mean: which rows were removed first, and why."""
    moments: Moments | None = None
    """If cells are missing."""


def good_rows(
    X: Any,
    assume: Any = "auto",
    random_state: Seed = 0,
    standardized: bool = True,
    **given: Any,
) -> GoodRows:
    """Find the rows whose covariance is that of the good rows.

    Rows that `robust_mean` removes are removed first. Of the others, those that inflate the
    covariance are removed if good rows are Gaussian ("gaussian"), if they look Gaussian along most
    directions ("auto"), or never ("nothing"). What is `given` goes to `robust_mean`. X is an array,
    of which cells may be missing, or a table.
    """
    check_choice(assume, "assume", get_args(MomentAssumption))
    of_mean: Any = "symmetric" if assume == "gaussian" else assume
    table = as_table(check_table(X, missing="auto"))
    missing, moments = table.missing, None
    result = robust_mean(table, assume=of_mean, random_state=random_state, **given)
    support, location = result.support, on_host(result._location).astype(np.float64)
    if len(result.certificate.cells):
        # An extreme cell would inflate the covariance: its row is removed.
        rows = mask_of(result.certificate.cells[:, 0], table.shape[0])
        support = support & ~table.to_device(rows)
    if missing is not None:  # medians would hide how columns vary together
        moments = moments_of(X[support], missing[support])
        table = as_table(moments.filled(X, missing))
    location = table.mean(double(support), location)
    if assume != "nothing":
        gaussian = assume == "gaussian"
        inflating = inflating_rows(table, support, location, gaussian, standardized)
        support = support & ~inflating
        location = table.mean(double(support), location)
        if missing is not None and inflating.any():
            moments = moments_of(X[support], missing[support])
    return GoodRows(support, location if moments is None else moments.mean, result, moments)


def inflating_rows(
    table: Table,
    support: Rows,
    location: Array,
    gaussian: bool = False,
    standardized: bool = True,
) -> Rows:
    """Return the mask of the rows of `support` that inflate the covariance of the others.

    About 3 passes, and a copy of the rows along the axes that are examined.

    Parameters
    ----------
    table : Table
        All rows.
    support : mask of shape (n,)
        The rows to examine.
    location : array of shape (d,)
        Their mean.
    gaussian : bool
        Whether good rows are known to be Gaussian. Otherwise rows are only removed if they look
        Gaussian along most directions.
    standardized : bool
        Whether principal axes are those of the correlations instead of the covariance.
    """
    rows = table if every(support) else table.take(support)
    m, d = rows.shape
    if m < 60:  # too few to show whether tails are heavy in all directions
        return support & ~support
    # With fewer rows than columns, the span of the rows holds all their variance.
    rotation = Rotation.of(rows, location) if m < d else None
    if rotation is not None:
        rows, location, standardized = rotation.rotated, np.zeros(rotation.rotated.shape[1]), False
    Z, axes = _principal(rows, location, standardized)
    if rotation is not None:
        axes = axes[:1]
    inflating = np.zeros(m, dtype=np.bool_) if not len(Z) else ~_kept(Z, axes, gaussian)
    return scattered(table.to_device(inflating), support, False)


def _principal(table: Table, center: Array, standardized: bool) -> tuple[Array, list[Array]]:
    """Return rows in principal coordinates, in which all together have covariance I; two passes.

    Returns
    -------
    array of shape (q, m)
        The rows, along as many axes as there are enough rows for.
    list of array of shape (q, q)
        Sets of directions to test: the principal axes and, if all of them are examined, those
        nearest to the columns, and the columns themselves.
    """
    m = table.shape[0]
    covariance, drift = table.scatter(center, double(table.constant(1.0)))
    covariance = covariance / m - np.outer(drift, drift) / m**2
    unit = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    if not standardized:
        unit = np.full(len(unit), unit.max(initial=0.0))
    unit = np.where(unit > TINY, unit, np.inf)  # constant columns are ignored
    values, vectors = np.linalg.eigh(covariance / unit / unit[:, None])
    values, vectors = values[::-1], vectors[:, ::-1]
    held = values > max(RELATIVE * values[0], 0.0)
    # With fewer than 5 rows for each axis there are directions of low variance by chance, along
    # which the other rows seem extreme.
    held[m // 5 :] = False
    values, vectors = values[held], vectors[:, held]
    whitener = (vectors / np.sqrt(values)).T / unit
    rows = double(on_host(table.project(center + drift / m, whitener)))
    axes = [np.eye(len(values))]
    if len(values) == table.shape[1] > 1:
        axes += [vectors, units(vectors * np.sqrt(values))]
    return np.ascontiguousarray(rows), axes


def _kept(rows: Array, axes: list[Array], gaussian: bool) -> Mask:
    """Return which of the rows (q x m) do not inflate the covariance, in a metric of their own.

    Directions and rows are found in turn, until the rows do not change; about four times.
    """
    q, m = rows.shape
    least = 0.0 if gaussian else LEAST  # if rows are Gaussian, any excess is evidence
    everything = np.ones(m, dtype=np.bool_)
    kept, n_known = everything, 0
    for n_round in range(8):
        mean = rows[:, kept].mean(axis=1, keepdims=True)
        root, inverse = _roots(np.cov(rows[:, kept], bias=True).reshape(q, q))
        Z = inverse @ (rows - mean)
        found = inflated_directions(Z[:, kept], [units(a @ root) for a in axes], least)
        if not gaussian and not found.few:
            return everything
        # Where all rows exceed the kept ones most, whose covariance is I: so the directions of the
        # round before turn towards the rows that were removed along them.
        known = np.linalg.eigh(Z @ Z.T)[1].T[::-1][:n_known]
        if not gaussian and len(known):
            T = known @ Z
            known = known[(log_ratios(T) > LEAST) & (skewness(T) <= SKEWED)]
        chosen = distinct(np.concatenate([known, found.directions]))
        is_new = len(chosen) > len(known) or n_round == 0
        if not gaussian and not len(chosen):
            return everything
        last, kept = kept, _fewest_removed(_second_moments(Z, kept, chosen, is_new))
        if kept.sum() < 0.55 * m:  # good rows are a clear majority
            return everything
        n_known = len(chosen)
        if not is_new and np.array_equal(last, kept):
            break
    return kept


def _roots(covariance: Array) -> tuple[Array, Array]:
    """Return the symmetric square root of a covariance, and its inverse."""
    values, vectors = np.linalg.eigh(covariance)
    values = np.sqrt(np.maximum(values, RELATIVE))
    return (vectors * values) @ vectors.T, (vectors / values) @ vectors.T


def _second_moments(Z: Array, kept: Mask, chosen: Array, is_new: bool) -> Array:
    """Return the products of the rows along the chosen directions, and their other lengths.

    Along a new direction, bad rows have a part in the variance of the kept rows, so the unit is
    the scale of the bulk.
    """
    P = chosen @ Z
    columns = len(Z) - len(P)
    rest = np.sum(Z * Z, axis=0) - np.sum(P * P, axis=0)
    if is_new:
        P = P / np.maximum(bulk_scales(P[:, kept]), TINY)[:, None]
        if columns:
            median = 2.0 * gammaincinv(columns / 2.0, 0.5)  # of their chi-squared distribution
            rest = rest * (median / max(float(np.median(rest[kept])), TINY))
    return products(P, rest if columns else None, columns)


def products(P: Array, rest: Array | None = None, columns: int = 1) -> Array:
    """Return z z^T for rows with the coordinates P (k x n), as the rows of a table.

    Its k (k + 1) / 2 columns are coordinates of symmetric matrices in an orthonormal basis, so that
    they are uncorrelated with variance 2 if the coordinates are independent and standard Gaussian.
    So is the last one: `rest`, the squared length in all other `columns`, over their root.
    """
    i, j = np.triu_indices(len(P))
    table = P[i] * P[j] * np.where(i == j, 1.0, np.sqrt(2.0))[:, None]
    if rest is not None:
        table = np.concatenate([table, rest[None] / np.sqrt(columns)])
    return np.ascontiguousarray(table.T)


def _fewest_removed(Y: Array) -> Mask:
    """Return the rows that are kept if the fewest are removed for the others to vary like Gaussian.

    The variance of all combinations of columns is 2, or what it may be by chance in this many rows.
    """
    n, d = Y.shape
    sigma = np.sqrt(2.0) * (1.0 + np.sqrt(d / n))
    with warnings.catch_warnings():
        # If the fit ends early, the next round starts with a few rows too many or too few.
        warnings.simplefilter("ignore", ConvergenceWarning)
        return np.asarray(robust_mean(Y, sigma=float(sigma)).support)
