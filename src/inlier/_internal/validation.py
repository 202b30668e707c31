"""Argument checks: errors name the argument, the value found and the remedy."""

import numbers
from datetime import date, time, timedelta
from typing import Any

import numpy as np
from array_api_compat import is_array_api_obj

from inlier._internal.arrays import dtype_name, is_real, namespace, on_host
from inlier._internal.typing import Array, Rows

# Budgets between this and its inverse leave room for products in double precision.
SMALLEST_BUDGET = 1e-290
# numpy converts some of these to numbers in an arbitrary unit.
TIMES = (date, time, timedelta, np.datetime64, np.timedelta64)


def are_times(array: Array) -> bool:
    """Return whether entries are dates, times or durations."""
    if array.dtype.kind != "O":
        return array.dtype.kind in "mM"
    return any(issubclass(kind, TIMES) for kind in set(map(type, array.flat)))


def check_times(array: Array, name: str) -> None:
    """Raise if an array holds dates, times or durations."""
    if not are_times(array):
        return
    where = ""
    if array.dtype.kind == "O" and array.ndim == 2:
        where = f" in column {next(j for j, x in enumerate(array.T) if are_times(x))}"
    what = "dates or times" if array.dtype.kind == "O" else f"dtype {array.dtype}"
    raise ValueError(
        f"{name} must hold real numbers, but has {what}{where}. Select or encode the numeric "
        "columns first."
    )


def is_device_array(X: Any) -> bool:
    """Return whether X is an array of another library than numpy."""
    return is_array_api_obj(X) and not isinstance(X, np.ndarray | np.generic)


def as_array(X: Any, name: str) -> Array:
    """Convert to a numeric numpy array."""
    try:
        array = np.asarray(X)
        if array.dtype.kind == "O" and any(isinstance(cell, str) for cell in array.flat):
            raise ValueError(
                f"{name} must hold real numbers, but has text in it, which may be written in "
                "several ways. Convert it, as pandas.to_numeric does, or leave it out."
            )
        numeric = array.astype(np.float64) if array.dtype.kind == "O" else array
    except OverflowError:
        raise ValueError(
            f"{name} is out of range: it has a whole number with too many digits for double "
            "precision. Measure it in other units."
        ) from None
    except (TypeError, ValueError) as error:
        if str(error).startswith(name):
            raise
        widths = [np.size(row) for row in X] if isinstance(X, list | tuple) else []
        if len(set(widths)) > 1:
            i = int(np.argmax(np.array(widths) != widths[0]))
            raise ValueError(
                f"{name} must have rows of the same length, but row 0 has {widths[0]} cells, and "
                f"row {i} has {widths[i]}. Write NaN for missing cells."
            ) from None
        raise ValueError(
            f"{name} must be a table of numbers, but could not be read as one: {error}. Select or "
            "encode the numeric columns first, and give every row the same length."
        ) from None
    check_times(array, name)
    return numeric


def check_rows_of_numbers(X: Any, name: str, stored: bool = False) -> None:
    """Raise if an array, of any library or `stored` in a file, is no table of real numbers."""
    if len(X.shape) != 2:
        how = "store it with two axes" if stored else f"pass {name}.reshape(-1, 1)"
        single = len(X.shape) == 1 and X.shape[0] > 0
        raise ValueError(
            f"{name} must be a table with rows and columns, but has shape {X.shape}."
            + f" For a single column {how}." * single
        )
    if not is_real(X):
        raise ValueError(
            f"{name} must hold real numbers, but has dtype {X.dtype}. Select or encode the numeric "
            "columns first."
        )


def check_size(X: Any, name: str, least_rows: int = 2) -> None:
    """Raise if a table has no column, or too few rows."""
    n, d = X.shape
    if n < least_rows or d < 1:
        raise ValueError(
            f"{name} must have at least {least_rows} rows and 1 column, but has "
            f"{n} {'row' if n == 1 else 'rows'} and {d} {'column' if d == 1 else 'columns'}."
        )


def check_number(
    value: Any,
    name: str,
    *,
    above: float = 0.0,
    at_least: float | None = None,
    at_most: float = np.inf,
    below: float = np.inf,
    hint: str = "",
) -> float:
    """Return a finite number in (above, at_most] or [at_least, at_most], and below `below`."""
    right = isinstance(value, numbers.Real) and not isinstance(value, bool | np.bool_)
    try:
        number = float(value) if right else np.nan
    except OverflowError:  # a whole number of hundreds of digits
        number = np.inf
    low = above < number if at_least is None else at_least <= number
    if not (low and number <= at_most and number < below and np.isfinite(number)):
        least = f"above {above:g}" if at_least is None else f"of at least {at_least:g}"
        high = f" and at most {at_most:g}" if np.isfinite(at_most) else ""
        high = f" and below {below:g}" if np.isfinite(below) else high
        raise ValueError(f"{name} must be a finite number {least}{high}, but is {value!r}.{hint}")
    return number


def check_whole(value: Any, name: str, at_least: int = 1) -> int:
    """Return an integer of at least `at_least`."""
    right = isinstance(value, numbers.Integral) and not isinstance(value, bool | np.bool_)
    if not right or int(value) < at_least:
        raise ValueError(f"{name} must be a whole number >= {at_least}, but is {value!r}.")
    return int(value)


def check_choice(value: Any, name: str, choices: tuple[str, ...]) -> str:
    """Return one of the given strings."""
    if not isinstance(value, str) or value not in choices:
        listed = ", ".join(repr(choice) for choice in choices)
        raise ValueError(f"{name} must be one of {listed}, but is {value!r}.")
    return value


def check_vector(value: Any, name: str, length: int, what: str) -> Array:
    """Return a finite vector with one entry for each row or column of X."""
    vector = as_array(on_host(value) if is_device_array(value) else value, name)
    if vector.shape != (length,) or vector.dtype.kind not in "buif":
        raise ValueError(
            f"{name} must be a vector of {length} numbers, one for each {what} of X, but has shape "
            f"{vector.shape} and dtype {vector.dtype}."
        )
    vector = vector.astype(np.float64)
    if not np.isfinite(vector).all():
        raise ValueError(f"{name} contains NaN or infinity. Every entry must be finite.")
    return vector


def check_sample_weight(
    value: Any, length: int, name: str = "sample_weight", rows: Array | None = None
) -> Array:
    """Return weights of the rows of a mean: finite, not negative and not all zero.

    In messages rows have these numbers, or are counted from 0.
    """
    weights = check_vector(value, name, length, "row")
    if (weights < 0.0).any():
        i = int(np.argmax(weights < 0.0))
        row = i if rows is None else rows[i]
        raise ValueError(
            f"{name} has a negative entry ({weights[i]:g}, the first in row {row}). Give "
            "rows that must not enter the mean the weight 0."
        )
    if not weights.any():
        raise ValueError(
            f"{name} is zero in every row, so that there is nothing to take a mean of. Leave "
            "it out for equal weights."
        )
    return weights


def check_random_state(value: Any) -> np.random.Generator:
    """Return a generator from a seed, a generator or a `RandomState`."""
    if isinstance(value, np.random.Generator):
        return value
    if isinstance(value, np.random.RandomState):
        return np.random.default_rng(value.randint(np.iinfo(np.int32).max))
    if value is None:
        return np.random.default_rng()
    return np.random.default_rng(check_whole(value, "random_state", 0))


def fit_generator(value: Any) -> np.random.Generator:
    """Return a generator for a fit, in a stream of its own.

    Data are often drawn with the same seed; the starting vectors must not coincide with rows.
    """
    if isinstance(value, numbers.Integral):
        # The second number is arbitrary: it separates the two streams.
        return np.random.default_rng([check_whole(value, "random_state", 0), 0x1A71E5])
    return check_random_state(value)


def check_budget(budget: float, what: str) -> None:
    """Raise if c1^2 n sigma^2 would overflow or underflow."""
    if not SMALLEST_BUDGET < budget < 1.0 / SMALLEST_BUDGET:
        raise ValueError(
            f"{what} is out of range: c1^2 times the number of rows times the square of sigma must "
            "be a number. Measure X and sigma in other units."
        )


def check_finite(block: Rows, name: str, first: int | None) -> None:
    """Raise if an entry is NaN or infinite; `first` is the index of the first row, if known."""
    if "float" not in dtype_name(block):
        return
    xp = namespace(block)
    with np.errstate(over="ignore", invalid="ignore"):
        if bool(xp.isfinite(xp.sum(block))):  # cheap and sufficient; large values may overflow
            return
    bad = np.argwhere(on_host(~xp.isfinite(block)))
    if len(bad):
        i, j = (int(x) for x in bad[0])
        where = "" if first is None else f", the first at row {first + i}, column {j}"
        kind = "NaN" if bool(xp.isnan(block[i, j])) else "infinity"
        # Baselines, sparse matrices, devices, files and clusters do not support missing cells.
        known = (
            ' robust_mean takes NaN for a missing cell with missing="auto", in arrays and data '
            "frames in memory."
        )
        raise ValueError(
            f"{name} contains NaN or infinity ({kind}{where}). Drop or impute such rows before "
            f"the fit.{known if kind == 'NaN' else ''}"
        )
