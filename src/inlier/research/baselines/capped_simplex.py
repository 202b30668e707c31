"""Projections onto the capped simplex { w : sum_i w_i = 1, 0 <= w_i <= cap }."""

import numpy as np

from inlier._internal.typing import Array


def nearest_point(w: Array, cap: float) -> Array:
    """Return the Euclidean projection of w onto the capped simplex.

    It is clip(w - t, 0, cap). The sum is piecewise linear and decreasing in t, with kinks where an
    entry reaches a bound: interpolate between them.
    """
    kinks = np.concatenate([w - cap, w])
    order = np.argsort(kinks, kind="stable")
    inside = np.cumsum(np.where(order < len(w), 1, -1))  # entries between the bounds after a kink
    fallen = np.cumsum(inside[:-1] * np.diff(kinks[order]))
    t = np.interp(len(w) * cap - 1.0, np.append(0.0, fallen), kinks[order])
    return np.asarray(np.clip(w - t, 0.0, cap))


def nearest_distribution(w: Array, cap: float) -> Array:
    """Return the projection of w onto the capped simplex in relative entropy.

    It is min(c w, cap): the largest entries are at the cap, the others in proportion. All numbers
    of capped entries are tried, from none, on the sorted entries.
    """
    order = np.argsort(w)[::-1]
    rest = np.cumsum(w[order][::-1])[::-1]  # sums without the largest entries
    capped = np.arange(len(w))
    with np.errstate(divide="ignore", invalid="ignore"):
        scales = (1.0 - cap * capped) / rest
    fits = (scales * w[order] <= cap) & np.isfinite(scales) & (scales >= 0.0)
    first = int(np.argmax(fits)) if fits.any() else len(w)
    out = np.full(len(w), cap)
    if first < len(w):
        out[order[first:]] = scales[first] * w[order[first:]]
    return out
