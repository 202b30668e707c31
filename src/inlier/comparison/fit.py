"""Fit the methods of one trial, and measure them."""

import math
import numbers
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from scipy.linalg import norm  # does not overflow
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from inlier._internal.typing import Array, Mask
from inlier.comparison.plan import NamedMethod, TrialData, check_sample
from inlier.comparison.table import ROUNDING, Trial

# Warnings about code, not about the estimate.
IGNORED = (DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning)
# Enough rows to estimate the length of a row.
LENGTH_ROWS = 1000


@dataclass(frozen=True)
class Job:
    """One trial of some methods; alpha and sigma are as in `Plan`."""

    plan: int  # index of the comparison
    data: TrialData
    trial: int
    seed: int | None
    methods: tuple[NamedMethod, ...]
    alpha: float | None
    sigma: float | None

    def unanswered(self, method: NamedMethod, status: Literal["timeout", "failed"]) -> Trial:
        """Return the record of a fit without an estimate."""
        return Trial(method.name, self.trial, self.seed, status)


@dataclass(frozen=True)
class FitStarted:
    """A fit starts, and with it the clock of its timeout."""

    method: str


@dataclass(frozen=True)
class JobError:
    """A whole job failed."""

    message: str


Event = FitStarted | Trial | JobError


def run_job(job: Job) -> Iterator[Event]:
    """Fit the methods of a job one after the other."""
    try:
        drawn = check_sample(job.data.draw(job.seed))
        known = {"alpha": job.alpha, "sigma": job.sigma}
        for name in {name for method in job.methods for name in method.needs}:
            known[name] = getattr(drawn, name) if known[name] is None else known[name]
    except Exception as error:
        yield JobError(f"Trial {job.trial} of {job.data} cannot be had: {describe(error)}")
        return
    for method in job.methods:
        yield FitStarted(method.name)
        yield _fit(job, method, drawn, known)


def _fit(job: Job, method: NamedMethod, drawn: Any, known: dict[str, float | None]) -> Trial:
    X = _read_only(drawn.X)
    # Single-threaded, or the seconds of parallel trials would not compare.
    with threadpool_limits(limits=1), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        begin = time.perf_counter()
        try:
            estimator = method.estimator(known)
            begin = time.perf_counter()
            estimator.fit(X)
            seconds = time.perf_counter() - begin
            location, removed, passes = _attributes(estimator, X)
        except (Exception, SystemExit) as error:
            seconds = time.perf_counter() - begin
            failed = job.unanswered(method, "failed")
            return replace(failed, seconds=seconds, message=describe(error))
    texts = [str(w.message) for w in caught if not issubclass(w.category, IGNORED)]
    labelled = drawn.is_outlier is not None and removed is not None
    return Trial(
        method.name,
        job.trial,
        job.seed,
        "ok",
        error=math.nan if drawn.mean is None else _error(location, drawn.mean, X),
        exact=bool((removed == drawn.is_outlier).all()) if labelled else None,
        removed=None if removed is None else int(removed.sum()),
        passes=passes,
        seconds=seconds,
        message=" ".join(dict.fromkeys(texts)),
        location=location,
    )


def _read_only(X: Any) -> Any:
    """Protect the rows from methods that write into them."""
    if isinstance(X, np.ndarray):
        X = X.view()
        X.flags.writeable = False
    elif hasattr(X, "tocsr"):  # a sparse table cannot be made read-only
        X = X.copy()
    return X


def _attributes(estimator: Any, X: Any) -> tuple[Array, Mask | None, int | None]:
    """Return location, removed rows and passes of a fitted estimator."""
    n, d = X.shape
    if not hasattr(estimator, "location_"):
        raise ValueError("location_ is missing: after fit it should be a point.")
    location = np.asarray(estimator.location_)
    if location.shape != (d,) or location.dtype.kind not in "buif":
        raise ValueError(
            f"location_ has shape {location.shape} and dtype {location.dtype}: after fit it should "
            f"be a point with {d} coordinates."
        )
    if not np.isfinite(location).all():
        raise ValueError("location_ has NaN or infinity: after fit it should be a point.")
    support: Any = getattr(estimator, "support_", None)
    is_mask = isinstance(support, np.ndarray) and support.dtype == np.bool_
    judged = is_mask and support.shape == (n,) and getattr(estimator, "judges_rows", True)
    passes = getattr(getattr(estimator, "result_", None), "n_passes", None)
    passes = int(passes) if isinstance(passes, numbers.Integral) else None
    return location.astype(np.float64), ~support if judged else None, passes


def _error(location: Array, mean: Array, X: Any) -> float:
    """Return the distance to the true mean; 0 if it is rounding error."""
    rows = X[:LENGTH_ROWS]
    rows = rows.toarray() if hasattr(rows, "toarray") else rows
    typical = np.median([norm(row) for row in rows])
    error = float(norm(location - mean))
    return 0.0 if error <= ROUNDING * float(typical) else error


def describe(error: BaseException) -> str:
    """Return type and message of an exception."""
    try:
        return f"{type(error).__name__}: {error}"
    except Exception:  # its __str__ fails
        return type(error).__name__
