"""Public entry point: validate the input, fit, and return the result."""

import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Literal, get_args, overload

import numpy as np

from inlier._internal.arrays import on_host
from inlier._internal.progress import bar, watching
from inlier._internal.typing import Array
from inlier._internal.validation import (
    SMALLEST_BUDGET,
    check_budget,
    check_choice,
    check_number,
    check_sample_weight,
    check_vector,
    fit_generator,
)
from inlier.data import Frame, Metric, Table, as_table, central_row, is_wide
from inlier.data.checks import (
    as_rows,
    check_center,
    check_index,
    check_table,
    is_external,
    named_table,
    opened,
)
from inlier.given.contamination import (
    check_contamination,
    with_contamination,
    within_contamination,
)
from inlier.given.trusted import Trusted, check_names, put_back, trusted_mask, with_trusted
from inlier.l0.fit import Options, fit_with_sigma
from inlier.linalg.centers import geometric_median
from inlier.linalg.metrics import metric_of
from inlier.results.building import built
from inlier.results.grouped import GroupedResult, check_groups, taken
from inlier.results.labels import Labels
from inlier.results.result import RobustMeanResult
from inlier.search.extremes import without_extreme_cells
from inlier.search.fit import fit_without_sigma
from inlier.verdict import (
    Doubt,
    Finding,
    Kind,
    Step,
    Verdict,
    WeakEvidenceWarning,
)

Assumption = Literal["auto", "symmetric", "nothing"]
ScatterName = Literal["auto", "identity", "diagonal"]
Contamination = float | Literal["auto"]
MissingName = Literal["auto", "error"]
Callback = Callable[[Step], object]


@overload
def robust_mean(
    X: Any,
    *,
    sigma: float | None = None,
    contamination: Contamination = "auto",
    trusted: Any = None,
    assume: Assumption = "auto",
    sample_weight: Any = None,
    groups: None = None,
    scatter: ScatterName | Any = "auto",
    missing: MissingName = "auto",
    random_state: int | np.random.Generator | np.random.RandomState | None = 0,
    callback: Callback | None = None,
    progress: bool = False,
    l0: Options | None = None,
) -> RobustMeanResult: ...


@overload
def robust_mean(X: Any, *, groups: Any, **options: Any) -> GroupedResult: ...


def robust_mean(  # type: ignore[misc] # the options of the first signature
    X: Any,
    *,
    sigma: float | None = None,
    contamination: Contamination = "auto",
    trusted: Any = None,
    assume: Assumption = "auto",
    sample_weight: Any = None,
    groups: Any = None,
    scatter: ScatterName | Any = "auto",
    missing: MissingName = "auto",
    random_state: int | np.random.Generator | np.random.RandomState | None = 0,
    callback: Callback | None = None,
    progress: bool = False,
    l0: Options | None = None,
) -> RobustMeanResult | GroupedResult:
    """Estimate the mean of the good rows of a contaminated table, and find the bad rows.

    With sigma, minimises a surrogate of the number of removed rows, ||h||_0, subject to ::

        lambda_max( sum_i (1 - h_i) (y_i - x)(y_i - x)^T ) <= B,     B = c1^2 n sigma^2

    over h in [0, 1]^n and x, where the y_i are the rows of X, in some 20 passes over X.

    Without sigma, rows are removed on decisive evidence only, which depends on what is assumed of
    the good rows. What is left fixes sigma; the certificate is about the problem above with this
    sigma and c1 = 1. Some 10 to 80 passes. In arrays in memory, extreme cells are first set aside:
    they count as the median of their column in the certificate, and not at all in the mean, and
    their rows stay. A row with many extreme cells is removed.

    Parameters
    ----------
    X : array, sparse matrix, data frame, file or Dask collection of shape (n, d)
        One-dimensional data in memory are a table of one column. Of a data frame of pandas or
        polars, what there is by column has its names, and rows have its labels.
        Any real dtype and memory order. Never changed or made dense, nor copied unless cells are
        missing (see `missing`) or set aside. Arrays of torch, cupy and other libraries that follow
        the array API standard stay on their device, and the location and what has an entry for each
        row are arrays of the same kind. A path (.csv, .npy, .parquet, ...) to at most 33 million
        cells is loaded. Larger files, a memory map, a zarr array, an HDF5 dataset and Arrow data
        are read block by block; Dask arrays and dataframes where their chunks are.
        `inlier.open_table` says how much memory, and which cluster.
    sigma : float, optional
        A bound on the standard deviation of the good rows in every direction.
    contamination : float in (0, 0.5) or "auto", default="auto"
        The largest fraction of the rows that may be bad, if one is known. The rows that the search
        finds leave, and then the outermost of the others, unless these look like a tail;
        the message says if the number seems too small or too large. With sigma, which decides
        alone, it is only compared. "auto": no fraction is known.
    trusted : int array, mask of shape (n,) or table of shape (m, d), optional
        Rows that somebody has checked: their indices, which rows of X they are, or rows that are
        not in X; at least 5. They stay, and others leave from outside in, until the mean agrees
        with theirs up to chance. From 20 on, they give the metric too. `details.discoveries` of
        the result tells which rows are bad at a stated false discovery rate. With sigma, which must
        not be below what they vary by, they only stay.
    assume : {"auto", "symmetric", "nothing"}, default="auto"
        What is assumed of the good rows where sigma is not known. "symmetric": noise about one
        center, such as measurements, or updates of clients with the same kind of data; then any
        surplus on one side is evidence. "nothing": they may be skewed, in classes and in different
        units; rows are removed only if they are extreme by the units and tails of their columns, or
        form a well separated group. "auto": the second, unless what the first would keep is
        symmetric and has one mode.
    sample_weight : vector of length n, optional
        Weight of each row in the mean, such as the number of samples behind it: finite, not
        negative, not all 0. Weights do not affect which rows are removed, nor the certificate; a
        weight of 2 is not the same as two rows. For clients that claim their own weights, see
        `inlier.federated.aggregate`.
    groups : vector of length n, optional
        The label of the group that each row belongs to. Then each group is fitted on its own, and
        an `inlier.GroupedResult` is returned, with one result for each label.
        A group of one row is kept without a test, and left out.
    scatter : {"auto", "identity", "diagonal"} or array, default="auto"
        In which units rows are compared. "identity" is the paper: as the data are. "auto" is the
        same; without sigma it also searches for groups in the metric of the rows, if these vary
        more in some directions than in others. "diagonal" measures each column by its median
        absolute deviation. A vector of d variances, a d x d scatter matrix Sigma or a factor L of
        one, Sigma = L L^T, replace the identity by a multiple of Sigma. In all but the first two a
        copy of X in other coordinates is made, and sigma is a number without a unit.
    missing : {"auto", "error"}
        What to do about NaN, None and masked cells in arrays, data frames and lists in memory, and
        in files that are loaded.
        With "auto" a row is judged by the cells that it has, and the mean of a column is over the
        kept rows that have it. For that one copy of X is made, in which the median of the column
        stands for each missing cell: the certificate is about that copy, and says so. `n_missing`
        of the result counts the cells. A row or a column without any cell is an error, as is
        infinity. With "error" so is every missing cell, and always in sparse matrices, files that
        are read block by block, Dask collections and arrays of other libraries than numpy.
    random_state : int, Generator, RandomState or None
        Seed of the eigensolver's starting vectors and of row sampling.
    callback : callable, optional
        Called with each `Step` as it is done, for a progress display.
    progress : bool, default=False
        Whether to show a bar on the standard error: the part of the current pass over the data
        that is done, and how many there were; with `groups`, the part of the groups. Takes rich.
    l0 : inlier.l0.Options, optional
        Options of the problem above and of its algorithms.

    Returns
    -------
    RobustMeanResult
        The mean, the verdict on each row, and the certificate; with `groups` a `GroupedResult`.

    Warns
    -----
    sklearn.exceptions.ConvergenceWarning
        If the result is not what was asked for; its message says why and what to try.
    WeakEvidenceWarning
        If, without sigma, the data do not show clearly which rows are bad.

    Examples
    --------
    >>> import inlier
    >>> sample = inlier.datasets.SettingA(n=1000, d=50, alpha=0.2).sample(random_state=0)
    >>> result = inlier.robust_mean(sample.X)
    >>> bool((result.support == ~sample.is_outlier).all())
    True
    """
    if groups is not None or progress:
        same: dict[str, Any] = {"sigma": sigma, "contamination": contamination, "assume": assume}
        same |= {"scatter": scatter, "missing": missing, "random_state": random_state}
        same |= {"callback": callback, "l0": l0}
        with bar(progress) as tell:
            if groups is not None:
                return _by_group(as_rows(X), groups, trusted, sample_weight, same, tell)
            same |= {"trusted": trusted, "sample_weight": sample_weight}
            with watching(lambda n_passes, part: tell(f"pass {n_passes} over the data", part)):
                alone: RobustMeanResult = robust_mean(X, **same)
            return alone
    if not isinstance(l0, Options | None):
        raise ValueError(f"l0 must be inlier.l0.Options(...), but is {l0!r}.")
    given, options = as_rows(X), replace(l0 or Options())  # a copy: it keeps what it derives
    check_choice(missing, "missing", get_args(MissingName))
    if callback is not None and not callable(callback):
        raise ValueError(f"callback must be a function of a Step, but is {callback!r}.")
    X = check_table(given, wide_later=True, missing=missing)
    n = X.shape[0]
    if sample_weight is not None:
        sample_weight = check_sample_weight(sample_weight, n)
    if sigma is not None:
        sigma = check_number(sigma, "sigma", below=np.inf)
    fraction = check_contamination(contamination)
    check_choice(assume, "assume", get_args(Assumption))
    if sigma is not None and assume != "auto":
        raise ValueError(
            f"assume={assume!r} is about good rows of which no bound is known: leave sigma out, or "
            "leave assume out."
        )
    if sigma is None:
        options.refuse_without_sigma()
    else:
        reach = options.c1 * sigma
        check_budget(n * reach * reach, f"sigma={sigma:g} (times c1={options.c1:g})")
    table = as_table(X)
    columns = table.columns  # those of a file
    checked = None
    if trusted is not None:
        check_names(trusted, given)
        checked = Trusted.of(trusted, table)
    if checked is not None and sigma is not None:
        checked.check_sigma(sigma)
    random = fit_generator(random_state)
    if sigma is None:
        table = without_extreme_cells(table)
    while True:  # more than once only where cells are missing
        frame, verdict = _fit(table, sigma, assume, scatter, options, random, callback)
        if table.gaps is None or not len(few := _columns_to_ignore(table, frame, verdict)):
            break
        table = table.ignoring(few)
    table.ascending = None
    result = built(frame, verdict, named_table(table, given, columns), sample_weight)
    result = result._with_labels(Labels.of(given))
    if result.converged and sigma is None:
        if checked is not None:
            result = with_trusted(result, checked, fraction)
        elif fraction is not None:
            result = with_contamination(result, fraction)
    elif result.converged:  # sigma decides: what else is given is compared with it
        result = result if checked is None else put_back(result, checked)
        result = result if fraction is None else within_contamination(result, fraction)
    if result._outcome.weak:
        warnings.warn(result.message, WeakEvidenceWarning, stacklevel=2)
    if not verdict.converged:
        from sklearn.exceptions import ConvergenceWarning

        warnings.warn(result.message, ConvergenceWarning, stacklevel=2)
    return result


def _by_group(
    X: Any,
    groups: Any,
    trusted: Any,
    sample_weight: Any,
    same: dict[str, Any],
    tell: Callable[[str, float], None],
) -> GroupedResult:
    """Fit each group of rows on its own."""
    source, columns = opened(X) if is_external(X) else (X, None)
    source = np.asarray(source) if isinstance(source, list | tuple) else source
    n = source.shape[0]
    labels = check_groups(groups, n)
    check_index(groups, X, "groups")
    check_names(trusted, X)
    weights = None if sample_weight is None else check_sample_weight(sample_weight, n)
    checked = None if trusted is None else trusted_mask(trusted, n)
    support, results = np.ones(n, dtype=np.bool_), dict[Any, RobustMeanResult]()
    alone = []
    for i, (label, rows) in enumerate(labels):
        tell(f"group {label}", i / len(labels))
        if len(rows) == 1:
            alone.append(label)
            continue
        own = {} if weights is None else {"sample_weight": weights[rows]}
        own |= {} if checked is None else {"trusted": checked[rows]}
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                some = taken(source, rows)
                result: Any = robust_mean(some, **own, **same)
                if columns is not None and not isinstance(some, Table):
                    result = result.with_data(some, columns=columns)
            except ValueError as error:
                raise ValueError(f"In the group {label!r} of groups: {error}") from error
        for warning in caught:
            text = f"In the group {label!r}: {warning.message}"
            warnings.warn(text, warning.category, stacklevel=3)
        results[label], support[rows] = result, on_host(result.support)
    if not results:
        raise ValueError("groups has no group of more than one row.")
    if alone:
        shown = ", ".join(map(repr, alone[:5])) + ", ..." * (len(alone) > 5)
        warnings.warn(f"Groups with only one row were kept without a test: {shown}.", stacklevel=3)
    return GroupedResult(results, support, Labels.of(X))


def _fit(
    original: Table,
    sigma: float | None,
    assume: str,
    scatter: Any,
    options: Options,
    random: np.random.Generator,
    callback: Callback | None,
) -> tuple[Frame, Verdict]:
    """Put the rows into their metric, find a center, and fit."""
    as_given = isinstance(scatter, str) and scatter in ("auto", "identity")
    metric = None if as_given else metric_of(scatter, original, random)
    table = original if metric is None else original.in_metric(metric)
    if options.published:  # its convex problems are solved on the host
        table = table.on_host()
    center, central = _center(table, metric, options, random)
    if sigma is None:
        in_metric = isinstance(scatter, str) and scatter == "auto"
        frame, found = fit_without_sigma(
            table, metric, center, central, random, in_metric, assume, callback
        )
        if not options.published:
            return frame, found
        reach = options.c1 * found.sigma
        if table.shape[0] * reach * reach <= SMALLEST_BUDGET:
            return frame, found.with_findings(Finding(Kind.NO_VARIATION))
        sigma, doubts = found.sigma, found.outcome.having(Doubt)
    else:
        doubts = ()
    frame, found = fit_with_sigma(table, metric, sigma, center, central, options, random, callback)
    return frame, found.with_findings(*doubts)


def _center(
    table: Table, metric: Metric | None, options: Options, random: np.random.Generator
) -> tuple[Array, bool]:
    """Return where to start, and whether a better start may be found in the frame of the fit."""
    start, searching = options.start, not options.published
    if not isinstance(start, str):
        center = check_vector(start, "start", table.shape[1], "column")
        check_center(center, table.dtype, "start")
        center = center if metric is None else metric.transform(center[None])[0]
        check_center(center, table.dtype, "start")
        return center, False
    central = start == "auto" and searching and is_wide(table.shape)
    if central:
        center = central_row(table)
    elif start == "geometric-median":
        center = geometric_median(table).location
    else:
        center = table.median(random if start == "auto" and searching else None)
    check_center(center, table.dtype, "X")
    return center, central


def _columns_to_ignore(table: Any, frame: Frame, verdict: Verdict) -> Array:
    """Return the sparse columns whose cells caused most of their rows to be removed.

    Medians do not vary, so that in such a column every row with a value may seem to lie far out. If
    most of its values are good, that is no reason to remove them.
    """
    gaps, support = table.gaps, on_host(frame.of_all_rows(verdict.kept, False))
    few = np.setdiff1d(gaps.mostly_missing, gaps.ignored)
    if not len(few) or 2 * int(support.sum()) <= gaps.n_rows:  # where most rows left, so did these
        return few[:0]
    _, kept = table.observed_mean(support, gaps.fill)
    gone = few[2 * kept[few] < gaps.n_rows - gaps.counts[few]]
    # All of them the second time, so that it ends soon.
    return few if len(gone) and len(gaps.ignored) else gone
