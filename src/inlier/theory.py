"""What is proved about the l0 estimator, as functions of numbers.

The bounds, radii and sample sizes of Liu, Deshmukh and Veeravalli, "Robust Mean Estimation in
High Dimensions via l0 Minimization" (called the paper below), and two sharper ones that follow
from the same argument: `resilience_radius` and `error_radius`.

Two kinds of statement live here. `resilience_radius`, `lemma1_radius` and `error_radius` are
facts about finite sets of points: nothing is random. All others are about samples from a
distribution and hold with the probability that their docstring states.

Parameters are named as in the paper, and docstrings state the range of the fraction. It is a number
or an array, and the result has its shape: a bound or radius is a float, a sample size the smallest
whole number allowed, in floating point if it is an array, because it can be beyond the range of
64-bit integers.
"""

import math
import operator
from typing import SupportsIndex, TypeVar, cast, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = [
    "corollary_bound", "corollary_sample_size", "error_radius", "far_away", "far_radius",
    "lemma1_radius", "lemma2_bound", "lemma2_sample_size", "resilience_radius", "theorem1_bound",
    "theorem1_sample_size",
]  # fmt: skip

FloatArray = NDArray[np.float64]
# A number in gives a number out, an array gives an array.
Number = TypeVar("Number", float, FloatArray)
_Number = TypeVar("_Number", bound=float | FloatArray)

C1_MIN = math.sqrt(1.5)  # the inliers themselves need this much of the budget, eq. (4)

# A decimal fraction times a whole number is meant exactly (0.29 * 100 is 29) but is stored a few
# units in the last place away from it; counts are rounded after allowing for that much.
_ROUNDING = 2.0**-50


# -- Theorem 1 and its corollary ------------------------------------------------------------------


def theorem1_bound(alpha: Number, epsilon: float, sigma: float, c1: float = C1_MIN) -> Number:
    r"""Return the error bound of the l0 estimator to the mean of the inliers (Theorem 1).

    Proved: with probability at least 0.95,

    .. math:: \|\hat x - \bar x^*\|_2 \le (4 + 3 c_1)\, \sigma \sqrt{\alpha + \epsilon}

    for the globally optimal solution of the l0 problem with binary `h`, and for every other
    feasible one with binary `h` and at most `(alpha + epsilon) n` rows removed. Here
    :math:`\bar x^*` is the mean of the inliers: the uncorrupted rows that are not far away in the
    sense of `far_radius`.

    Assumed: the rows were drawn independently from a distribution with covariance at most
    `sigma**2` times the identity; then a fraction `alpha` of them was replaced by anything; there
    are at least ``theorem1_sample_size(d, epsilon)`` rows; the budget is `c1**2 n sigma**2`.

    Covered: ``0 < epsilon < 1/3`` and ``0 <= alpha < 1/3 - epsilon``. The paper writes
    ``0 < alpha``; its proof uses only `alpha + epsilon`, so no corruption is allowed too.

    Parameters
    ----------
    alpha : float or ndarray
        Fraction of the rows that is corrupted.
    epsilon : float or ndarray
        Tolerance: the fraction spent on good rows that lie far away.
    sigma : float
        Square root of the bound on the covariance, in its largest eigenvalue.
    c1 : float, default=sqrt(3/2)
        Square root of the constant of the budget, `c1**2 n sigma**2`; ``c1**2 >= 3/2``.

    Examples
    --------
    >>> print(theorem1_bound(alpha=0.1, epsilon=0.06, sigma=2.0, c1=2.0))
    8.0
    """
    alpha = _number("alpha", alpha)
    _check_epsilon(epsilon, 1 / 3, "1/3", "Theorem 1")
    limit = 1 / 3 - epsilon
    need = (
        f"Theorem 1 covers 0 <= alpha < 1/3 - epsilon = {limit:.6g}; "
        "lower epsilon, or use error_radius, which holds for larger alpha"
    )
    _require((alpha >= 0) & (alpha < limit), "alpha", alpha, need)
    _check_sigma("sigma", sigma)
    _check_c1(c1)
    bound: Number = (4 + 3 * c1) * sigma * np.sqrt(alpha + epsilon)
    return bound


@overload
def theorem1_sample_size(d: SupportsIndex, epsilon: float) -> int: ...
@overload
def theorem1_sample_size(d: SupportsIndex, epsilon: FloatArray) -> FloatArray: ...
def theorem1_sample_size(d: SupportsIndex, epsilon: float | FloatArray) -> int | FloatArray:
    r"""Return the number of rows that Theorem 1 asks for.

    .. math:: n \ge 3.2 \cdot 10^4\, \frac{d \log d}{\epsilon}
                  + 11.2 \cdot 10^4\, \frac{d}{\epsilon}

    This many are sufficient for `theorem1_bound` to hold with probability at least 0.95, with
    ``0 < epsilon < 1/3``. It does not depend on `alpha`. It is not claimed to be necessary, and in
    practice far fewer rows do. The logarithm is the natural one.

    Parameters
    ----------
    d : int
        Dimension, at least 1.
    epsilon : float or ndarray
        Tolerance: the fraction spent on good rows that lie far away.
    """
    d = _positive_integer("d", d)
    epsilon = _number("epsilon", epsilon)
    _check_epsilon(epsilon, 1 / 3, "1/3", "Theorem 1")
    return _whole((3.2e4 * d * math.log(d) + 11.2e4 * d) / epsilon)


def corollary_bound(alpha: Number, sigma: float, c1: float = C1_MIN) -> Number:
    r"""Return the error bound of the l0 estimator to the distribution's mean (Corollary 1).

    Proved: with probability at least 0.949,

    .. math:: \|\hat x - x^*\|_2 \le (7.5 + 3.1 c_1)\, \sigma \sqrt{\alpha}

    for the globally optimal solution of the l0 problem with binary `h`, and for every other
    feasible one with binary `h` and at most `(161/160) alpha n` rows removed. It is Theorem 1
    with ``epsilon = alpha / 160`` and Lemma 2 to go from the inliers' mean to :math:`x^*`, the
    mean of the distribution.

    Assumed: as in `theorem1_bound`, with ``0 < alpha <= 0.33`` and at least
    ``corollary_sample_size(d, alpha)`` rows.

    Parameters
    ----------
    alpha : float or ndarray
        Fraction of the rows that is corrupted.
    sigma : float
        Square root of the bound on the covariance, in its largest eigenvalue.
    c1 : float, default=sqrt(3/2)
        Square root of the constant of the budget, `c1**2 n sigma**2`; ``c1**2 >= 3/2``.
    """
    alpha = _number("alpha", alpha)
    _check_corollary_alpha(alpha)
    _check_sigma("sigma", sigma)
    _check_c1(c1)
    bound: Number = (7.5 + 3.1 * c1) * sigma * np.sqrt(alpha)
    return bound


@overload
def corollary_sample_size(d: SupportsIndex, alpha: float) -> int: ...
@overload
def corollary_sample_size(d: SupportsIndex, alpha: FloatArray) -> FloatArray: ...
def corollary_sample_size(d: SupportsIndex, alpha: float | FloatArray) -> int | FloatArray:
    r"""Return the number of rows that Corollary 1 asks for.

    .. math:: n \ge 160 \left( 3.2 \cdot 10^4\, \frac{d \log d}{\alpha}
                  + 11.2 \cdot 10^4\, \frac{d}{\alpha} \right)

    This many are sufficient for `corollary_bound` to hold with probability at least 0.949: it is
    ``theorem1_sample_size(d, alpha / 160)``, and more than Lemma 2 needs; ``0 < alpha <= 0.33``.

    Parameters
    ----------
    d : int
        Dimension, at least 1.
    alpha : float or ndarray
        Fraction of the rows that is corrupted.
    """
    d = _positive_integer("d", d)
    alpha = _number("alpha", alpha)
    _check_corollary_alpha(alpha)
    return _whole(160 * (3.2e4 * d * math.log(d) + 11.2e4 * d) / alpha)


# -- Resilience -----------------------------------------------------------------------------------


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
    beta = _number("beta", beta)
    _check_sigma("sigma", sigma)
    _require((beta >= 0) & (beta < 1), "beta", beta, "give a fraction with 0 <= beta < 1")
    bound: Number = sigma * np.sqrt(beta / (1 - beta))
    return bound


def lemma1_radius(sigma: float, beta: Number) -> Number:
    r"""Bound how far the mean of a set moves when a fraction of it is dropped (Lemma 1).

    Proved, for every finite set S of m points: if the covariance of S about its own mean
    (normalised by m) is at most `sigma**2` times the identity, then S is
    :math:`(2 \sigma \sqrt\beta, \beta)`-resilient around its mean for ``0 <= beta < 1/2``: every
    subset with at least `(1 - beta) m` points has its mean within :math:`2 \sigma \sqrt\beta`.

    Nothing is random. `resilience_radius` is sharp, and smaller for every ``0 < beta < 1/2``.

    Parameters
    ----------
    sigma : float
        Square root of the bound on the covariance, in its largest eigenvalue.
    beta : float or ndarray
        Largest fraction of the set that is dropped.
    """
    beta = _number("beta", beta)
    _check_sigma("sigma", sigma)
    need = "Lemma 1 covers 0 <= beta < 1/2; use resilience_radius, which covers beta < 1"
    _require((beta >= 0) & (beta < 0.5), "beta", beta, need)
    bound: Number = 2 * sigma * np.sqrt(beta)
    return bound


def error_radius(
    kept_sigma: float, n_kept: SupportsIndex, n: SupportsIndex, alpha: Number, sigma: float
) -> Number:
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
    alpha = _number("alpha", alpha)
    n = _positive_integer("n", n)
    n_kept = _integer("n_kept", n_kept)
    _require(0 <= n_kept <= n, "n_kept", n_kept, f"it counts some of the n={n} rows; give 0 to {n}")
    _check_sigma("kept_sigma", kept_sigma)
    _check_sigma("sigma", sigma)
    _require((alpha >= 0) & (alpha <= 1), "alpha", alpha, "give a fraction with 0 <= alpha <= 1")
    # Rounding is allowed for upwards: one outlier too few would make the radius too small.
    outliers = np.minimum(np.floor(alpha * n * (1 + _ROUNDING)), n)
    overlap = n_kept - outliers
    spread = kept_sigma * np.sqrt(outliers) + sigma * math.sqrt(n - n_kept)
    radius = np.where(overlap > 0, spread / np.sqrt(np.maximum(overlap, 1)), np.inf)
    return cast(Number, radius[()])


# -- Far away rows, and Lemma 2 -------------------------------------------------------------------


def far_radius(sigma: float, d: SupportsIndex, epsilon: Number) -> Number:
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
    epsilon = _number("epsilon", epsilon)
    _check_sigma("sigma", sigma)
    d = _positive_integer("d", d)
    _check_epsilon(epsilon, 1.0, "1", "the set G")
    bound: Number = sigma * np.sqrt(40 * d / epsilon)
    return bound


def far_away(
    sq_distances: ArrayLike, sigma: float, d: SupportsIndex, epsilon: float
) -> NDArray[np.bool_]:
    """Return the rows outside of the ball of `far_radius` around a center.

    Proved, by `far_radius`: around the distribution's mean, with probability at least 39/40, at
    most `epsilon n` good rows are far away. Around an estimate of that mean nothing more is proved
    than that a row's distances to the two centers differ by at most the error of the estimate.
    Rounding may have left a tiny one of the squared distances of the rows negative.

    Parameters
    ----------
    sq_distances : array-like
        Squared distances of the rows from the center.
    sigma : float
        Square root of the bound on the covariance, in its largest eigenvalue.
    d : int
        Dimension, at least 1.
    epsilon : float or ndarray
        Tolerance: the fraction spent on good rows that lie far away.
    """
    squares = _number("sq_distances", np.asarray(sq_distances))
    need = "a distance is missing; remove the rows that have missing values first"
    _require(~np.isnan(squares), "sq_distances", squares, need)
    return np.asarray(np.sqrt(np.maximum(squares, 0)) > far_radius(sigma, d, epsilon))


def lemma2_bound(alpha: Number, sigma: float) -> Number:
    r"""Bound the distance of the mean of the rows in G from the distribution's mean (Lemma 2).

    Proved: with probability at least 0.974,

    .. math:: \|\tilde x - x^*\|_2 \le \sigma \sqrt\alpha,

    where :math:`\tilde x` is the mean of the uncorrupted rows within
    :math:`80 \sigma \sqrt{d / \alpha}` of :math:`x^*`, that is within
    ``far_radius(sigma, d, alpha / 160)``.

    Assumed: rows drawn independently from a distribution with mean :math:`x^*` and covariance at
    most `sigma**2` times the identity, at least ``lemma2_sample_size(d, alpha)`` of them, for any
    ``0 < alpha < 1/2``. No row is corrupted here.

    Parameters
    ----------
    alpha : float or ndarray
        Fraction of the rows that is corrupted.
    sigma : float
        Square root of the bound on the covariance, in its largest eigenvalue.
    """
    alpha = _number("alpha", alpha)
    _check_lemma2_alpha(alpha)
    _check_sigma("sigma", sigma)
    bound: Number = sigma * np.sqrt(alpha)
    return bound


@overload
def lemma2_sample_size(d: SupportsIndex, alpha: float) -> int: ...
@overload
def lemma2_sample_size(d: SupportsIndex, alpha: FloatArray) -> FloatArray: ...
def lemma2_sample_size(d: SupportsIndex, alpha: float | FloatArray) -> int | FloatArray:
    r"""Return the number of rows that Lemma 2 asks for.

    .. math:: n \ge 9 \cdot 10^3\, d / \alpha

    This many are sufficient for `lemma2_bound` to hold with probability at least 0.974, with
    ``0 < alpha < 1/2``.

    Parameters
    ----------
    d : int
        Dimension, at least 1.
    alpha : float or ndarray
        Fraction of the rows that is corrupted.
    """
    d = _positive_integer("d", d)
    alpha = _number("alpha", alpha)
    _check_lemma2_alpha(alpha)
    return _whole(9e3 * d / alpha)


# -- Checks ---------------------------------------------------------------------------------------


def _require(ok: bool | np.bool_ | NDArray[np.bool_], name: str, value: object, need: str) -> None:
    if not np.all(ok):
        found = np.atleast_1d(np.asarray(value))[np.atleast_1d(~np.asarray(ok))][0]
        raise ValueError(f"{name}={found}: {need}.")


def _number(name: str, value: _Number) -> _Number:
    try:
        number = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name}={value!r}: give a number or an array of numbers.") from error
    return cast(_Number, number[()])


def _integer(name: str, value: SupportsIndex) -> int:
    try:
        return operator.index(value)
    except TypeError as error:
        raise ValueError(f"{name}={value!r}: give a whole number, as an int.") from error


def _positive_integer(name: str, value: SupportsIndex) -> int:
    integer = _integer(name, value)
    _require(integer >= 1, name, integer, "give a whole number of at least 1")
    return integer


def _check_sigma(name: str, value: float) -> None:
    value = _number(name, value)
    need = "it is a standard deviation; give a finite number that is not negative"
    _require((value >= 0) & (value < math.inf), name, value, need)


def _check_c1(c1: float) -> None:
    c1 = _number("c1", c1)
    need = (
        "c1**2 below 3/2 may leave no room for the inliers themselves; "
        "give a finite c1 of at least sqrt(3/2) = 1.2247..."
    )
    # Compared without squaring: sqrt(1.5)**2 rounds to less than 1.5.
    _require((c1 >= C1_MIN) & (c1 < math.inf), "c1", c1, need)


def _check_epsilon(epsilon: float | FloatArray, limit: float, limit_text: str, what: str) -> None:
    epsilon = _number("epsilon", epsilon)
    need = f"{what} needs 0 < epsilon < {limit_text}; give a tolerance in that range"
    _require((epsilon > 0) & (epsilon < limit), "epsilon", epsilon, need)


def _check_corollary_alpha(alpha: float | FloatArray) -> None:
    need = (
        "Corollary 1 covers 0 < alpha <= 0.33; for alpha = 0 use theorem1_bound, "
        "for larger alpha error_radius"
    )
    _require((alpha > 0) & (alpha <= 0.33), "alpha", alpha, need)


def _check_lemma2_alpha(alpha: float | FloatArray) -> None:
    need = "Lemma 2 covers 0 < alpha < 1/2; give a fraction in that range"
    _require((alpha > 0) & (alpha < 0.5), "alpha", alpha, need)


@overload
def _whole(rows: float) -> int: ...
@overload
def _whole(rows: FloatArray) -> FloatArray: ...
def _whole(rows: float | FloatArray) -> int | FloatArray:
    """Round up to a whole number, up to rounding errors."""
    if isinstance(rows, np.ndarray):
        return np.asarray(np.ceil(rows * (1 - _ROUNDING)), dtype=np.float64)
    return math.ceil(rows * (1 - _ROUNDING))
