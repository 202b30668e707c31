"""Bounds that are proved about the l0 estimator, as functions of numbers.

`resilience_radius` and `error_radius` are facts about finite sets of points: nothing is random.
They sharpen lemmas of Liu, Deshmukh and Veeravalli, "Robust Mean Estimation in High Dimensions via
l0 Minimization" (called the paper below). `far_radius` is about samples from a distribution. The
theorems of the paper and their sample sizes are in docs/mathematics.md.

A fraction is a number or an array, and the result has its shape.
"""

import math
from typing import TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from inlier._internal.removed import removed
from inlier._internal.validation import check_number, check_whole

__all__ = ["error_radius", "far_radius", "resilience_radius"]

# A number in gives a number out, an array gives an array.
Number = TypeVar("Number", float, NDArray[np.float64])
_Number = TypeVar("_Number", bound=float | NDArray[np.float64])

_OF_THE_PAPER = "its formula is in docs/mathematics.md, under What is proved"
__getattr__ = removed(
    __name__,
    {
        "theorem1_bound": _OF_THE_PAPER,
        "theorem1_sample_size": _OF_THE_PAPER,
        "corollary_bound": _OF_THE_PAPER,
        "corollary_sample_size": _OF_THE_PAPER,
        "lemma1_radius": "use resilience_radius, which is smaller",
        "lemma2_bound": _OF_THE_PAPER,
        "lemma2_sample_size": _OF_THE_PAPER,
        "far_away": "compare distances with far_radius",
    },
)


def resilience_radius(sigma: float, beta: Number) -> Number:
    r"""Bound how far the mean of a set moves when a fraction of it is dropped; sharp.

    Proved, for every finite set S of m points and ``0 <= beta < 1``: if the covariance of S about
    its own mean (normalised by m) is at most `sigma**2` times the identity, then every subset T
    with at least `(1 - beta) m` points satisfies

    .. math:: \|\mathrm{mean}(T) - \mathrm{mean}(S)\|_2 \le \sigma \sqrt{\beta / (1 - \beta)} .

    Nothing is random. No smaller function of `sigma` and `beta` has this property: with
    `(1 - beta) m` points at 0 and `beta m` points at 1 it is attained. It implies Lemma 1 of the
    paper, which is larger by a factor between sqrt(2) and 2.

    Parameters
    ----------
    sigma : float
        Square root of the bound on the covariance, in its largest eigenvalue.
    beta : float or ndarray
        Largest fraction of the set that is dropped.

    Notes
    -----
    Proof. Put mean(S) = 0 and project on a unit vector. Let T hold the fraction tau < 1 of S (for
    tau = 1 nothing moves), and let a and b be the means of T and of the rest, so that
    tau a + (1 - tau) b = 0. The variance is at least that between the two groups:
    sigma^2 >= tau a^2 + (1 - tau) b^2 = a^2 tau / (1 - tau). So a is at most
    sigma sqrt((1 - tau) / tau), which decreases in tau, and tau >= 1 - beta.
    """
    beta = _fraction(beta, "beta", "[0, 1)")
    sigma = check_number(sigma, "sigma", at_least=0.0)
    bound: Number = sigma * np.sqrt(beta / (1 - beta))
    return bound


def error_radius(kept_sigma: float, n_kept: int, n: int, alpha: Number, sigma: float) -> Number:
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
    Proof. Let m' be the size of S* and t that of T, the intersection of S and S*; suppose t > 0.
    T is S less the fraction beta = 1 - t/m, for which beta / (1 - beta) = (m - t) / t, and the
    same holds of S* with m'. By `resilience_radius`, twice, and the triangle inequality the
    distance of the two means is at most ::

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
    alpha = _fraction(alpha, "alpha", "[0, 1]")
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
    return cast(Number, radius[()])


def far_radius(sigma: float, d: int, epsilon: Number) -> Number:
    r"""Return the radius of the ball G, outside of which a good row counts as far away.

    .. math:: G = \{ y_i : \|y_i - x^*\|_2 \le \sigma \sqrt{40 d / \epsilon} \}

    Proved: with probability at least 39/40, at most `epsilon n` of the rows lie outside of G,
    ``0 < epsilon < 1`` (equation (1) of the paper).

    Assumed: n rows drawn independently from a distribution with mean :math:`x^*` and covariance
    at most `sigma**2` times the identity. The paper states it for the n of Theorem 1; it is
    Markov's inequality, used twice, and holds for every n. Equation (4) does need that n: with
    probability at least 39/40 the rows in G have a second moment about :math:`x^*` of at most
    ``1.5 * n * sigma**2``.

    Parameters
    ----------
    sigma : float
        Square root of the bound on the covariance, in its largest eigenvalue.
    d : int
        Dimension, at least 1.
    epsilon : float or ndarray
        Tolerance: the fraction spent on good rows that lie far away.
    """
    epsilon = _fraction(epsilon, "epsilon", "(0, 1)")
    sigma = check_number(sigma, "sigma", at_least=0.0)
    d = check_whole(d, "d")
    bound: Number = sigma * np.sqrt(40 * d / epsilon)
    return bound


def _fraction(value: _Number, name: str, within: str) -> _Number:
    """Return a fraction, or an array of them, in double precision; raise unless all are within."""
    try:
        number = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must be a number or an array, but is {value!r}.") from error
    low = number > 0 if within[0] == "(" else number >= 0
    valid = low & (number < 1 if within[-1] == ")" else number <= 1)
    if not valid.all():
        raise ValueError(f"{name} must be within {within}, but is {number[~valid].flat[0]}.")
    return cast(_Number, number[()])
