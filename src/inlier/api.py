"""`robust_mean`: validates, chooses the way through the data, and speaks in the data's units."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from inlier._internal.arrays import on_host
from inlier._internal.typing import Array
from inlier._internal.validation import (
    SMALLEST_BUDGET,
    check_budget,
    check_choice,
    check_number,
    check_sample_weight,
    check_vector,
    check_whole,
    fit_generator,
)
from inlier.data import Metric, Rotation, Table, as_table, central_row
from inlier.data.checks import check_center, check_table
from inlier.l0.fit import FitOptions, WarmStart, fit_with_sigma
from inlier.l0.surrogates import SurrogateName
from inlier.l0.surrogates import surrogate as named_surrogate
from inlier.linalg.centers import geometric_median
from inlier.linalg.metrics import metric_of
from inlier.results.named_table import NamedTable
from inlier.results.outcome import DOUBTS, Finding, Kind
from inlier.results.records import PathPoint, Step, WeakEvidenceWarning
from inlier.results.result import RobustMeanResult
from inlier.results.units import in_units_of_the_data
from inlier.results.weighting import weighted
from inlier.search.fit import fit_without_sigma

Algorithm = Literal["continuation", "paper"]
StartName = Literal["auto", "coordinate-median", "geometric-median"]
Assumption = Literal["auto", "symmetric", "nothing"]
ScatterName = Literal["auto", "identity", "diagonal"]
MissingName = Literal["auto", "error"]


def robust_mean(
    X: Any,
    *,
    sample_weight: Any = None,
    sigma: float | None = None,
    assume: Assumption = "auto",
    scatter: ScatterName | Any = "auto",
    p: float | None = None,
    c1: float | None = None,
    algorithm: Algorithm = "continuation",
    surrogate: SurrogateName | None = None,
    start: StartName | Any = "auto",
    prune: float | None = None,
    max_iter: int | None = None,
    tol: float | None = None,
    missing: MissingName = "auto",
    random_state: int | np.random.Generator | np.random.RandomState | None = 0,
    callback: Callable[[Step], object] | None = None,
) -> RobustMeanResult:
    """Estimate the mean of the good rows of a contaminated table, and find the bad rows.

    With sigma, minimises a surrogate of the number of removed rows, ||h||_0, subject to ::

        lambda_max( sum_i (1 - h_i) (y_i - x)(y_i - x)^T ) <= B,     B = c1^2 n sigma^2

    over h in [0, 1]^n and x, where the y_i are the rows of X, in some 20 passes over X.

    Without sigma, rows leave on decisive evidence only, which depends on what is assumed of the
    good rows. What is left fixes sigma; the certificate is that of the problem above with this
    sigma and c1 = 1. Some 10 to 80 passes. There is then no use for `p`, `c1`, `surrogate`,
    `prune`, `max_iter` and `tol`, and they are refused, unless `algorithm="paper"`, which is run
    with the sigma that was found.

    Parameters
    ----------
    X : array, sparse matrix, data frame, file or Dask collection of shape (n, d)
        Any real dtype and memory order. Never changed or made dense, nor copied unless cells are
        missing (see `missing`). Arrays of torch, cupy and other libraries that follow the array API
        standard stay on their device, and the location and what has an entry for each row are
        arrays of the same kind. A path (.npy, .zarr, .h5, .parquet), a memory map, a zarr array, an
        HDF5 dataset and Arrow data are read block by block; Dask arrays and dataframes where their
        chunks are. `inlier.open_table` says how much memory, and which cluster.
    sample_weight : vector of length n, optional
        What each row counts in the mean, such as the number of samples behind it: finite, not
        negative, not all 0. It is no evidence. Which rows are bad is decided with each row counted
        once, one of weight 0 too, and so is the certificate; the location is then the weighted
        mean of the kept rows, with standard errors of its own. Weights are taken on trust: of a
        client that claims its own, see `inlier.federated.aggregate`.
    sigma : float, optional
        A bound on the standard deviation of the good rows in every direction.
    assume : {"auto", "symmetric", "nothing"}, default="auto"
        What is assumed of the good rows where sigma is not known. "symmetric": noise about one
        center, such as measurements, or updates of clients with the same kind of data; then any
        surplus on one side is evidence. "nothing": they may be skewed, in classes and in different
        units; rows leave only if they are gross by the units and tails of their columns, or form a
        group that is clear of the rest. "auto": the second, unless what the first would keep is
        symmetric and has one mode.
    scatter : {"auto", "identity", "diagonal"} or array, default="auto"
        In which units rows are compared. "identity" is the paper: as the data are. "auto" is the
        same; without sigma it also looks for groups in the metric of the rows, if these vary more
        in some directions than in others. "diagonal" measures each column by its median absolute
        deviation. A vector of d variances, a d x d scatter matrix Sigma or a factor L of one, Sigma
        = L L^T, put a multiple of Sigma in place of that of the identity. In all but the first two
        a copy of X in other coordinates is made, and sigma is a number without a unit.
    p : float, optional
        The power of h in the surrogate sum_i h_i^p, 0 < p <= 1; 0.5 unless given. At 1 it is the
        convex l1 problem.
    c1 : float, optional
        The paper's factor on sigma, 1 unless given; its theorems want sqrt(3/2) or more.
    algorithm : {"continuation", "paper"}
        "continuation" lowers the budget in steps from one that all rows satisfy and finishes with
        Algorithm 1; it succeeds from starts that are far off. "paper" is Algorithm 1 as published.
    surrogate : {"reweighted-l2", "reweighted-l1", "l1"}, optional
        How sum_i h_i^p is minimised: by the first unless given. "l1" ignores p.
    start : {"auto", "coordinate-median", "geometric-median"} or array of shape (d,)
        The first center. "auto" is the coordinate-wise median, for the continuation of at most 501
        randomly chosen rows or, of at most 512 rows with more columns, their geometric median.
    prune : float, optional
        Before the fit, remove the rows farther than sigma sqrt(40 d / prune) from the start, which
        keeps at least a fraction 1 - prune of the good rows (see `inlier.theory.far_radius`).
    max_iter : int, optional
        Most iterations of Algorithm 1, 100 unless given.
    tol : float, optional
        Relative duality gap of the convex problems in `algorithm="paper"`, 1e-6 unless given.
    missing : {"auto", "error"}
        What to do about NaN, None and masked cells in arrays, data frames and lists in memory.
        With "auto" a row is judged by the cells that it has, and the mean of a column is over the
        kept rows that have it. For that one copy of X is made, in which the median of the column
        stands for each missing cell: the certificate is about that copy, and says so. `n_missing`
        of the result counts the cells. A row or a column without any cell is an error, as is
        infinity. With "error" so is every missing cell, and always in sparse matrices, files, Dask
        collections and arrays of other libraries than numpy.
    random_state : int, Generator, RandomState or None
        Of the random directions with which eigenvectors are looked for, and of all samples of
        rows.
    callback : callable, optional
        Called with each `Step` as it is done, for a progress display.

    Returns
    -------
    RobustMeanResult
        The mean, the verdict on each row, and the certificate.

    Warns
    -----
    sklearn.exceptions.ConvergenceWarning
        If the result is not what was asked for; its message says why and what to try.
    WeakEvidenceWarning
        If, without sigma, the data do not say clearly which rows are bad.

    Examples
    --------
    >>> import inlier
    >>> sample = inlier.datasets.SettingA(n=1000, d=50, alpha=0.2).sample(random_state=0)
    >>> result = inlier.robust_mean(sample.X)
    >>> bool((result.support == ~sample.is_outlier).all())
    True
    """
    given = X
    check_choice(missing, "missing", ("auto", "error"))
    X = check_table(X, wide_later=True, missing=missing)
    n, d = X.shape
    if sample_weight is not None:
        sample_weight = check_sample_weight(sample_weight, n)
    if sigma is not None:
        sigma = check_number(sigma, "sigma", below=np.inf)
    check_choice(assume, "assume", ("auto", "symmetric", "nothing"))
    if sigma is not None and assume != "auto":
        raise ValueError(
            f"assume={assume!r} is about good rows of which no bound is known: leave sigma out, or "
            "leave assume out."
        )
    check_choice(algorithm, "algorithm", ("continuation", "paper"))
    if sigma is None and algorithm != "paper":
        _refuse(p=p, c1=c1, surrogate=surrogate, prune=prune, max_iter=max_iter, tol=tol)
    c1 = 1.0 if c1 is None else check_number(c1, "c1", below=np.inf)
    options = _options(algorithm, p, surrogate, prune, max_iter, tol)
    if sigma is not None:
        check_budget(n * (c1 * sigma) * (c1 * sigma), f"sigma={sigma:g} (times c1={c1:g})")
    table = as_table(X)
    if isinstance(start, str):
        check_choice(start, "start", ("auto", "coordinate-median", "geometric-median"))
    else:
        start = check_vector(start, "start", d, "column")
        check_center(start, table.dtype, "start")
    random = fit_generator(random_state)
    problem = _Problem(sigma, c1, assume, scatter, start, options, random, callback)

    while True:  # more than once only where cells are missing
        result = problem.solve(table)
        result = replace(result, data=NamedTable.of(given, table)).over_cells()
        few = _blamed(result, table)
        if not len(few):
            break
        table = table.ignoring(few)
    result = weighted(replace(result, sample_weight=sample_weight))
    if result.outcome.weak:
        warnings.warn(result.message, WeakEvidenceWarning, stacklevel=2)
    _warn_unless_converged(result)
    return result


@dataclass(frozen=True)
class _Problem:
    """What was asked for, apart from the data."""

    sigma: float | None
    c1: float
    assume: str
    scatter: Any
    start: Any
    options: FitOptions
    random: np.random.Generator
    callback: Callable[[Step], object] | None

    def solve(self, original: Table) -> RobustMeanResult:
        """Put the rows into their metric, find a center, fit, and map back."""
        paper = self.options.algorithm == "paper"
        metric = metric_of(self.scatter, original, self.random)
        table = original if metric is None else original.in_metric(metric)
        if paper:  # its convex problems are solved on the host
            table = table.with_rows_on_host()
        center, central = self._center(table, metric)
        if self.sigma is None:
            result = self._without_sigma(table, center, central)
        else:
            result = self._with_sigma(table, self.sigma, center, central)
        if paper:
            result = _on_the_device(result, original)
        return result if metric is None else in_units_of_the_data(result, original, metric)

    def _center(self, table: Table, metric: Metric | None) -> tuple[Array, bool]:
        """Return where to start, and whether a better start may be found in a working frame."""
        start, searching = self.start, self.options.algorithm == "continuation"
        if not isinstance(start, str):
            center = start if metric is None else metric.transform(start[None])[0]
            check_center(center, table.dtype, "start")
            return center, False
        central = start == "auto" and searching and Rotation.pays(table)
        if central:
            center = central_row(table)
        elif start == "geometric-median":
            center = geometric_median(table).location
        else:
            center = table.median(self.random if start == "auto" and searching else None)
        check_center(center, table.dtype, "X")
        return center, central

    def _with_sigma(
        self, table: Table, sigma: float, center: Array, central: bool
    ) -> RobustMeanResult:
        rest = (self.options, self.random, self.callback)
        return fit_with_sigma(table, sigma, self.c1, center, central, *rest)

    def _without_sigma(self, table: Table, center: Array, central: bool) -> RobustMeanResult:
        in_metric = isinstance(self.scatter, str) and self.scatter == "auto"
        result = fit_without_sigma(
            table, center, central, self.random, in_metric, self.assume, self.callback
        )
        if self.options.algorithm != "paper":
            return result
        found = result.outcome
        reach = self.c1 * result.sigma
        if table.shape[0] * reach * reach > SMALLEST_BUDGET:
            result = self._with_sigma(table, result.sigma, center, central)
            doubts = found.having(DOUBTS)
            outcome = replace(result.outcome, findings=(*result.outcome.findings, *doubts))
        else:
            outcome = replace(found, findings=(*found.findings, Finding(Kind.NO_VARIATION)))
        return replace(result, outcome=outcome)


def _blamed(result: RobustMeanResult, table: Table) -> Array:
    """Return the sparse columns whose cells made most of their rows leave.

    Medians do not vary, so that in such a column every row with a value may seem to lie far out. If
    most of its values are good, that is no reason to remove them.
    """
    gaps = table.gaps
    if gaps is None:
        return np.empty(0, np.intp)
    few, support = np.setdiff1d(gaps.mostly_missing, gaps.ignored), on_host(result.support)
    if not len(few) or 2 * int(support.sum()) <= gaps.n_rows:  # where most rows left, so did these
        return few[:0]
    _, kept = table.observed_mean(support, gaps.fill)
    gone = few[2 * kept[few] < gaps.n_rows - gaps.counts[few]]
    # All of them the second time, so that it ends soon.
    return few if len(gone) and len(gaps.ignored) else gone


def _refuse(**given: Any) -> None:
    """Refuse arguments that need sigma."""
    names = [name for name, value in given.items() if value is not None]
    if names:
        verb, them = ("is", "it") if len(names) == 1 else ("are", "them")
        raise ValueError(
            f"{' and '.join(names)} {verb} of the problem with a known bound: give sigma=... too, "
            f"or leave {them} out."
        )


def _options(
    algorithm: str,
    p: Any = None,
    surrogate: Any = None,
    prune: Any = None,
    max_iter: Any = None,
    tol: Any = None,
) -> FitOptions:
    """Check the options of the paper's problem, and fill in the defaults."""
    p = 0.5 if p is None else check_number(p, "p", at_most=1.0)
    surrogate = "reweighted-l2" if surrogate is None else surrogate
    check_choice(surrogate, "surrogate", ("reweighted-l2", "reweighted-l1", "l1"))
    return FitOptions(
        algorithm,
        named_surrogate(surrogate, p),
        None if prune is None else check_number(prune, "prune", below=1.0),
        100 if max_iter is None else check_whole(max_iter, "max_iter"),
        1e-6 if tol is None else check_number(tol, "tol", below=1.0),
    )


def solve_again(
    result: RobustMeanResult, *, sigma: float | None = None, p: float | None = None
) -> RobustMeanResult:
    """Solve the paper's problem again from the end of a fit; see `RobustMeanResult.at`.

    The directions of its rule are the first of the search, and its mean is the first center.
    """
    data = result.known_data()
    original = as_table(data.table)
    n = original.shape[0]
    c1 = float(np.sqrt(result.budget / n)) / result.sigma
    rule = result.rule
    metric, directions = rule.metric, rule.deciding
    table = original if metric is None else original.in_metric(metric)
    once = result.location if result.unweighted is None else result.unweighted
    center = on_host(once).astype(np.float64)
    if metric is not None:
        center, directions = metric.transform(center[None])[0], directions @ metric.matrix
    sigma = result.sigma if sigma is None else sigma
    options, warm = _options("continuation", p), WarmStart(result.support, directions)
    again = fit_with_sigma(table, sigma, c1, center, False, options, fit_generator(0), None, warm)
    if metric is not None:
        again = in_units_of_the_data(again, original, metric)
    again = replace(again, data=data, sample_weight=result.sample_weight).over_cells()
    again = weighted(again)
    _warn_unless_converged(again)
    return again


def _warn_unless_converged(result: RobustMeanResult) -> None:
    """Warn in the name of the caller's caller."""
    if not result.converged:
        from sklearn.exceptions import ConvergenceWarning

        warnings.warn(result.message, ConvergenceWarning, stacklevel=3)


def _on_the_device(result: RobustMeanResult, table: Table) -> RobustMeanResult:
    """Return a result with arrays of the library that holds the data."""
    arrays = ("location", "support", "weights", "indicator", "scores")
    return replace(result, **{name: table.to_device(getattr(result, name)) for name in arrays})


def path(X: Any, **options: Any) -> tuple[PathPoint, ...]:
    """Return the path of budgets, from that of all rows past that of the good ones.

    A point for each group of rows that leaves, and one below the budget of what is left, where the
    price jumps because good rows would have to pay.

    Parameters
    ----------
    X : array, sparse matrix, data frame, file or Dask collection of shape (n, d)
        As for `robust_mean`.
    **options
        Those of `robust_mean`, but for sigma.

    Returns
    -------
    tuple of PathPoint
        As in `RobustMeanResult.path`.
    """
    if "sigma" in options:
        raise ValueError("path chooses sigma: leave it out.")
    return robust_mean(X, **options).path
