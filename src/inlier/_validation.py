"""Arguments that are wrong are named, with what was found and what to do."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
from scipy.sparse import issparse

from inlier._typing import Array

CHECK_ELEMENTS = 1 << 22


def check_table(X: Any, name: str = "X") -> Any:
    """A two-dimensional array, memory map or sparse matrix of finite real numbers, not copied."""
    if issparse(X):
        X = X.tocsr()  # type: ignore[attr-defined]
    else:
        if hasattr(X, "to_numpy"):  # data frames of pandas and polars
            X = X.to_numpy()
        if np.ma.isMaskedArray(X) and np.ma.getmaskarray(X).any():
            raise ValueError(
                f"{name} has masked entries. Fill them, or drop their rows, before the fit."
            )
        X = _as_array(X, name)
    if X.ndim != 2:
        raise ValueError(
            f"{name} must be a table with rows and columns, but has shape {X.shape}. For a single "
            f"column pass {name}.reshape(-1, 1), for a single row there is no mean to estimate."
        )
    n, d = X.shape
    if n < 2 or d < 1:
        raise ValueError(
            f"{name} must have at least 2 rows and 1 column, but has {n} rows and {d} columns."
        )
    if X.dtype.kind == "O":
        X = _as_array(X, name).reshape(n, d)
    if X.dtype.kind not in "buif":
        raise ValueError(
            f"{name} must hold real numbers, but has dtype {X.dtype}. Select or encode the numeric "
            "columns first."
        )
    _check_finite(X, name)
    return X


def _as_array(X: Any, name: str) -> Array:
    try:
        array = np.asarray(X)
        return array.astype(np.float64) if array.dtype.kind == "O" else array
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"{name} must be a table of numbers, but could not be read as one: {error}. Select or "
            "encode the numeric columns first, and give every row the same length."
        ) from None


def _check_finite(X: Any, name: str) -> None:
    if X.dtype.kind != "f":
        return
    sparse = issparse(X)
    values: Array = X.data.reshape(-1, 1) if sparse else X
    rows = max(1, CHECK_ELEMENTS // values.shape[1])
    for start in range(0, len(values), rows):
        block = values[start : start + rows]
        with np.errstate(over="ignore", invalid="ignore"):
            if np.isfinite(np.sum(block)):  # cheap, and enough unless large numbers cancel
                continue
        bad = ~np.isfinite(block)
        if bad.any():
            i, j = np.argwhere(bad)[0]
            where = "" if sparse else f", the first at row {start + i}, column {j}"
            kind = "NaN" if np.isnan(block[i, j]) else "infinity"
            raise ValueError(
                f"{name} contains NaN or infinity ({kind}{where}). Drop or impute such rows before "
                "the fit."
            )


def check_number(
    value: Any,
    name: str,
    *,
    above: float = 0.0,
    at_most: float = np.inf,
    below: float = np.inf,
    hint: str = "",
) -> float:
    """A finite real number in (above, at_most] and below `below`."""
    right = isinstance(value, numbers.Real) and not isinstance(value, bool | np.bool_)
    try:
        number = float(value) if right else np.nan
    except OverflowError:  # a whole number of hundreds of digits
        number = np.inf
    if not (above < number <= at_most and number < below and np.isfinite(number)):
        high = f" and at most {at_most:g}" if np.isfinite(at_most) else ""
        high = f" and below {below:g}" if np.isfinite(below) else high
        raise ValueError(
            f"{name} must be a finite number above {above:g}{high}, but is {value!r}.{hint}"
        )
    return number


def check_whole(value: Any, name: str, at_least: int = 1) -> int:
    """A whole number."""
    right = isinstance(value, numbers.Integral) and not isinstance(value, bool | np.bool_)
    if not right or int(value) < at_least:
        raise ValueError(f"{name} must be a whole number >= {at_least}, but is {value!r}.")
    return int(value)


def check_choice(value: Any, name: str, choices: tuple[str, ...]) -> str:
    """One of the given words."""
    if not isinstance(value, str) or value not in choices:
        listed = ", ".join(repr(choice) for choice in choices)
        raise ValueError(f"{name} must be one of {listed}, but is {value!r}.")
    return value


def check_vector(value: Any, name: str, length: int, what: str) -> Array:
    """A finite vector with one entry for each row or column of X."""
    vector = _as_array(value, name)
    if vector.shape != (length,) or vector.dtype.kind not in "buif":
        raise ValueError(
            f"{name} must be a vector of {length} numbers, one for each {what} of X, but has shape "
            f"{vector.shape} and dtype {vector.dtype}."
        )
    vector = vector.astype(np.float64)
    if not np.isfinite(vector).all():
        raise ValueError(f"{name} contains NaN or infinity. Every entry must be finite.")
    return vector


def check_random_state(value: Any) -> np.random.Generator:
    """A generator, from a whole number, a generator or numpy's older random states."""
    if isinstance(value, np.random.Generator):
        return value
    if isinstance(value, np.random.RandomState):
        return np.random.default_rng(value.randint(np.iinfo(np.int32).max))
    if value is None:
        return np.random.default_rng()
    return np.random.default_rng(check_whole(value, "random_state", 0))
