"""The bound behind a certificate, as a function of numbers.

It sharpens lemmas of Liu, Deshmukh and Veeravalli, "Robust Mean Estimation in High Dimensions via
l0 Minimization". What is proved there, and the sample sizes, are in docs/mathematics.md.
"""

import math
from typing import Any

import numpy as np

from inlier._internal.validation import check_number, check_whole

__all__ = ["error_radius"]


def error_radius(kept_sigma: float, n_kept: int, n: int, alpha: Any, sigma: float) -> Any:
    r"""Bound the distance of the mean of the kept rows from that of the inliers; sharp.

    Proved, for every pair of subsets S (the m rows kept) and S* (the inliers) of the same n rows:

    .. math:: \|\mathrm{mean}(S) - \mathrm{mean}(S^*)\|_2 \le
              \frac{s \sqrt{k} + \sigma \sqrt{n - m}}{\sqrt{m - k}},
              \qquad k = \lfloor \alpha n \rfloor,

    if the covariance of S about its own mean is at most `s**2` times the identity, that of S* is
    at most `sigma**2` times the identity (each normalised by the size of its set), and S* has at
    least `(1 - alpha) n` rows. Here s is `kept_sigma`, m is `n_kept`, and k is the largest number
    of outliers that `alpha` allows.

    Nothing is random, but only a part of it can be seen in the data: `kept_sigma` and `n_kept` are
    measured; that at least `(1 - alpha) n` rows are inliers and that these vary by at most `sigma`
    is assumed. It does not matter how S was found: no optimality, no sample size and no dimension
    enters. From these four numbers and n no smaller radius can be had, see the notes.

    Parameters
    ----------
    kept_sigma : float
        Square root of the largest eigenvalue of the kept rows' covariance about their own mean,
        normalised by `n_kept`.
    n_kept, n : int
        Number of rows kept, and of all rows.
    alpha : float or ndarray
        Assumed bound on the fraction of outliers, ``0 <= alpha <= 1``.
    sigma : float
        Assumed bound on the same quantity for the inliers.

    Returns
    -------
    float or ndarray
        The radius; infinite where ``n_kept <= floor(alpha * n)``, for then all of the kept rows may
        be outliers.

    Notes
    -----
    Resilience: a subset T that holds the fraction tau of S has its mean within
    s sqrt((1 - tau) / tau) of that of S. For put mean(S) = 0, project on a unit vector, and let a
    and b be the means of T and of the rest, so that tau a + (1 - tau) b = 0. The variance is at
    least that between the two: s^2 >= tau a^2 + (1 - tau) b^2 = a^2 tau / (1 - tau).

    Proof. Let m' be the size of S* and t that of T, the intersection of S and S*; suppose t > 0.
    T holds the fraction t/m of S and t/m' of S*. By resilience, twice, and the triangle inequality
    the distance of the two means is at most ::

        s sqrt((m - t) / t) + sigma sqrt((m' - t) / t).

    Neither m' nor t is known, so take the worst. For a given m' both terms decrease in t, and
    t >= m + m' - n, since S and S* together have at most n rows. With equality the bound reads ::

        s sqrt((n - m') / t) + sigma sqrt((n - m) / t),    t = m + m' - n,

    and now both terms decrease in m'. So the worst case has as few inliers as `alpha` allows,
    m' = n - k, and as few of them among the kept rows as possible, t = m - k.

    Sharp: put the m - k rows of T at 0, the k other rows of S at some a > 0 and the n - m other
    rows of S* at some -b < 0. Both uses of resilience are then equalities, and in opposite
    directions.

    Examples
    --------
    >>> print(error_radius(kept_sigma=1.0, n_kept=900, n=1000, alpha=0.1, sigma=1.0).round(4))
    0.7071
    """
    try:
        alpha = np.asarray(alpha, dtype=np.float64)[()]
    except (TypeError, ValueError) as error:
        raise ValueError(f"alpha must be a number or an array, but is {alpha!r}.") from error
    if (outside := ~((alpha >= 0) & (alpha <= 1))).any():
        found = np.asarray(alpha)[outside].flat[0]
        raise ValueError(f"alpha must be within [0, 1], but is {found}.")
    n, n_kept = check_whole(n, "n"), check_whole(n_kept, "n_kept", 0)
    if n_kept > n:
        raise ValueError(f"n_kept must be at most n={n}, but is {n_kept}.")
    kept_sigma = check_number(kept_sigma, "kept_sigma", at_least=0.0)
    sigma = check_number(sigma, "sigma", at_least=0.0)
    # A decimal fraction is stored a few units in the last place away (0.29 * 100 is below 29), and
    # one outlier too few would make the radius too small.
    outliers = np.minimum(np.floor(alpha * n * (1 + 2.0**-50)), n)
    overlap = n_kept - outliers
    spread = kept_sigma * np.sqrt(outliers) + sigma * math.sqrt(n - n_kept)
    radius = np.where(overlap > 0, spread / np.sqrt(np.maximum(overlap, 1)), np.inf)
    return radius[()]  # a number for a number, an array for an array
