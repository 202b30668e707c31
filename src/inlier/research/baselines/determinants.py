"""Means of the rows whose covariance, plain (MCD) or regularized (MRCD), is smallest."""

import warnings

import numpy as np
from scipy.special import ndtri
from scipy.stats import chi2, rankdata
from sklearn.covariance import MinCovDet

from inlier._internal.arrays import column_medians
from inlier._internal.typing import Array, Seed
from inlier.data.measures import MEDIAN_SIZE
from inlier.research.baselines.base import Answer, Baseline, Run


class MinimumCovarianceDeterminant(Baseline):
    """Average the rows whose covariance has the smallest determinant, reweighted once.

    An adapter of `sklearn.covariance.MinCovDet` (FastMCD): it averages the rows within the 97.5%
    quantile of the Mahalanobis distance of the best half. The estimate is affine equivariant with a
    breakdown point near (n - d) / 2 rows, but the half is found from random starts, which fail with
    many outliers in many columns, and n > 2 d is required. One pass for a dense copy; time grows as
    n d^2 for each of about 500 starts. Scores are the distances. Rows are scaled by their median
    distance first, and scikit-learn's warnings become one of this library.

    References
    ----------
    Rousseeuw (1984), Least median of squares regression. Rousseeuw and Van Driessen (1999), A fast
    algorithm for the minimum covariance determinant estimator.
    """

    name = "min-cov-det"
    paper = "Rousseeuw and Van Driessen (1999)"
    rotates = False

    random_state: Seed = 0

    def _check(self, n: int, d: int) -> None:
        if n <= 2 * d:
            raise ValueError(
                f"MinimumCovarianceDeterminant needs more than 2 d = {2 * d} rows for d = {d} "
                f"columns, but X has {n}: otherwise half of the rows fit into a plane. Take fewer "
                "columns, or a method without covariances, such as GeometricMedian."
            )

    def _estimate(self, run: Run) -> Answer:
        rows = run.dense()
        distances = np.linalg.norm(rows, axis=1)
        unit = float(np.median(distances))
        if unit == 0.0:  # scikit-learn fails on a zero covariance
            here = distances == 0.0
            return Answer(here * 1.0, distances, message="At least half of the rows coincide.")
        # scikit-learn does not accept a Generator.
        seed = int(run.random.integers(np.iinfo(np.int32).max))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            fit = MinCovDet(random_state=seed).fit(rows / unit)
        first = next((str(w.message) for w in caught), "")
        message = (
            f"scikit-learn warns: {first.split('. ')[0].rstrip('.')}. Likely causes are too few "
            "rows, and columns that follow from others: drop these."
        )
        return Answer(
            fit.support_.astype(np.float64),
            np.sqrt(np.maximum(fit.dist_, 0.0)),
            run.center + unit * fit.location_,
            converged=not first,
            message=message if first else "",
        )


# Of the regularized covariance, at most (section 3.2 of the paper).
CONDITION = 50.0
# From here on the weight of the target is the median over the starts, not the largest.
LARGE_WEIGHT = 0.1
MAX_STEPS = 100


class MinimumRegularizedCovarianceDeterminant(Baseline):
    """Average the (1 - alpha) n rows whose regularized covariance has the smallest determinant.

    Columns are divided by a robust scale, and covariances are mixed with the identity so that their
    condition number is at most 50: there may be more columns than rows. From five deterministic
    starts (scatters of tanh, ranks, normal scores and spatial signs of the rows, and of the half
    that is nearest to the median), concentration steps lower the determinant. The paper has a sixth
    start, the orthogonalized Gnanadesikan-Kettenring estimator, and scales by Qn; here it is the
    median absolute deviation. One pass for a dense copy; time grows as n d min(n, d) for each step.
    Scores are the distances.

    References
    ----------
    Boudt, Rousseeuw, Vanduffel and Verdonck (2020), The minimum regularized covariance determinant
    estimator. Hubert, Rousseeuw and Verdonck (2012), A deterministic algorithm for robust location
    and scatter, has the starts.
    """

    name = "mrcd"
    paper = "Boudt et al. (2020)"
    rotates = False

    alpha: float | None = None

    def _estimate(self, run: Run) -> Answer:
        rows = run.dense()
        scale = _scales(rows - column_medians(rows))
        varies = scale > 0.0
        if not varies.any():
            return Answer(np.ones(run.n), np.zeros(run.n), message="At least half coincide.")
        rows = (rows - column_medians(rows))[:, varies] / scale[varies]
        d, h = rows.shape[1], run.n - run.n_bad
        starts = [_nearest(rows, scatter, h) for scatter in _scatters(rows)]
        if d > run.n:  # a rotation: the target does not change, and nothing is outside of the span
            basis = np.linalg.qr(rows.T)[0]
            rows = rows @ basis
        factor = (h / run.n) / chi2.cdf(chi2.ppf(h / run.n, d), d + 2) if h < run.n else 1.0
        weights = [_target_weight(rows[start], factor, d) for start in starts]
        weight = max(weights)
        if weight > LARGE_WEIGHT:
            weight = max(LARGE_WEIGHT, float(np.median(weights)))
        found = [_concentrated(rows, start, factor, weight) for start in starts]
        best = min(found, key=lambda one: one[0])
        kept = np.zeros(run.n)
        kept[best[1]] = 1.0
        return Answer(kept, np.sqrt(best[2]), n_iter=best[3])


def _scales(offsets: Array) -> Array:
    """Return a robust scale of each column; 0 only for a constant one."""
    sizes = np.abs(offsets)
    scale = column_medians(sizes) / MEDIAN_SIZE
    return np.where(scale > 0.0, scale, sizes.mean(axis=0))


def _scatters(rows: Array) -> list[Array]:
    """Return rows whose second moments are first guesses of the scatter."""
    n = len(rows)
    ranks = rankdata(rows, axis=0)
    lengths = np.linalg.norm(rows, axis=1)
    half = np.argsort(lengths, kind="stable")[: (n + 1) // 2]
    signs = rows / np.where(lengths > 0.0, lengths, 1.0)[:, None]
    scores = ndtri((ranks - 1.0 / 3.0) / (n + 1.0 / 3.0))
    guesses = [np.tanh(rows), ranks, scores, signs, rows[half]]
    return [guess - guess.mean(axis=0) for guess in guesses]


def _nearest(rows: Array, guess: Array, h: int) -> Array:
    """Return the h rows nearest to the center, along the principal axes of a guess."""
    axes = np.linalg.svd(guess, full_matrices=False)[2]
    along = rows @ axes.T
    along -= column_medians(along)
    scales = _scales(along)
    whitened = along[:, scales > 0.0] / scales[scales > 0.0]
    return np.argsort(np.einsum("ij,ij->i", whitened, whitened), kind="stable")[:h]


def _target_weight(rows: Array, factor: float, d: int) -> float:
    """Return the smallest weight of the identity that bounds the condition number."""
    offsets = rows - rows.mean(axis=0)
    values = factor / len(rows) * np.linalg.eigvalsh(offsets.T @ offsets)
    smallest = 0.0 if d > rows.shape[1] else max(0.0, float(values[0]))
    excess = max(0.0, float(values[-1]) - CONDITION * smallest)
    return excess / (CONDITION - 1.0 + excess)


def _concentrated(
    rows: Array, start: Array, factor: float, weight: float
) -> tuple[float, Array, Array, int]:
    """Return the logarithm of the determinant, the h rows, all squared distances, and the steps."""
    inside, h, n_steps = np.sort(start), len(start), 0
    while n_steps < MAX_STEPS:
        n_steps += 1
        mean = rows[inside].mean(axis=0)
        offsets = rows[inside] - mean
        covariance = (1.0 - weight) * factor / h * (offsets.T @ offsets)
        covariance[np.diag_indices_from(covariance)] += max(weight, np.finfo(float).eps)
        factored = np.linalg.cholesky(covariance)
        whitened = np.linalg.solve(factored, (rows - mean).T)
        distances = np.einsum("ij,ij->j", whitened, whitened)
        determinant = 2.0 * float(np.log(np.diag(factored)).sum())
        nearest = np.sort(np.argsort(distances, kind="stable")[:h])
        if np.array_equal(nearest, inside):
            break
        inside = nearest
    return determinant, inside, distances, n_steps
