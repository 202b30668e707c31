"""Arguments that are wrong are named, with what was found and what to do."""

from __future__ import annotations

import numbers
import re
from datetime import date, time, timedelta
from typing import Any

import numpy as np
from array_api_compat import is_array_api_obj, is_torch_array
from scipy.sparse import issparse

from inlier._arrays import dtype_name, highest, is_real, median, on_host, pieces
from inlier._typing import Array, Rows
from inlier.data import (
    Table,
    check_finite,
    filled,
    find_missing,
    is_elsewhere,
    is_wide,
    open_table,
)

CHECK_ELEMENTS = 1 << 22
CHECK_DEVICE = 1 << 30
NONE = np.empty(0, np.intp)
SMALLEST_BUDGET = 1e-290
# Tells the random numbers of a fit from others that are drawn from the same whole number.
FIT_STREAM = 0x1A71E5
# How pandas, polars and Arrow call the types of columns that hold numbers or truth values.
NUMBERS = re.compile(r"(u?int\d|float|double|halffloat|decimal|bool)", re.IGNORECASE)
# numpy takes some of them for numbers, in units that nobody chose.
TIMES = (date, time, timedelta, np.datetime64, np.timedelta64)


def check_table(
    X: Any,
    name: str = "X",
    least_rows: int = 2,
    wide_later: bool = False,
    missing: str = "error",
    columns: Any = None,
    fill: Array | None = None,
    aside: Array = NONE,
) -> Any:
    """A table, array or sparse matrix of finite real numbers with rows and columns, not copied.

    Parameters
    ----------
    X : array, sparse matrix, data frame, file or Dask collection
    name : str
        What messages call it.
    least_rows : int
    wide_later : bool
        Whether few long rows need no look for NaN: a fit finds it in their Gram matrix.
    missing : {"error", "auto"}
        With "auto" an array in memory may have missing cells: it is copied, with `fill` in their
        place.
    columns : sequence of str, optional
        The names of the columns; data frames bring theirs along.
    fill : array of shape (d,), optional
        What stands for a missing cell; by default the median of the cells that its column has.
    aside : int array
        Columns of which no cell is looked at, see `Gaps`.
    """
    if isinstance(X, Table):
        return X
    if is_elsewhere(X):
        return open_table(X, name=name)
    if issparse(X):
        X = X.tocsr()  # type: ignore[attr-defined]
    elif not is_device_array(X):
        if _is_frame(X):  # of pandas or polars
            columns = X.columns if columns is None else columns
            X = _of_frame(X, name)
        if np.ma.isMaskedArray(X) and np.ma.getmaskarray(X).any():
            if missing == "error":
                raise ValueError(
                    f"{name} has masked entries. Fill them, or drop their rows, before the fit."
                )
            X = without_mask(X)
        X = _as_array(X, name)
    else:
        _check_device_array(X, name)
        if hasattr(X, "detach"):  # a fit is no part of a graph of gradients
            X = X.detach()
    if X.ndim != 2:
        raise ValueError(
            f"{name} must be a table with rows and columns, but has shape {X.shape}. For a single "
            f"column pass {name}.reshape(-1, 1), for a single row there is no mean to estimate."
        )
    n, d = X.shape
    if n < least_rows or d < 1:
        raise ValueError(
            f"{name} must have at least {least_rows} rows and 1 column, but has {n} rows and {d} "
            "columns."
        )
    if dtype_name(X) == "object":
        X = _as_array(X, name).reshape(n, d)
    if not is_real(X):
        raise ValueError(
            f"{name} must hold real numbers, but has dtype {X.dtype}. Select or encode the numeric "
            "columns first."
        )
    if missing == "auto" and isinstance(X, np.ndarray):
        where = find_missing(X, name)
        names = None if columns is None else tuple(str(column) for column in columns)
        if where is None and len(aside):
            where = np.zeros(X.shape, np.bool_)
        return X if where is None else filled(X, where, name, names, fill, aside)
    if issparse(X) or not (wide_later and is_wide(X.shape)):
        _check_finite(X, name)
    return X


def without_mask(X: Any) -> Any:
    """The entries of a masked array as numbers, those that are masked as NaN."""
    if not np.ma.isMaskedArray(X) or X.dtype.kind not in "buif":
        return X
    return np.ma.filled(X.astype(X.dtype if X.dtype.kind == "f" else np.float64), np.nan)


def check_columns(X: Any, name: str = "X") -> None:
    """Raise if some columns hold no numbers, although scikit-learn may take them for some.

    Counted in microseconds, dates and durations would drown all other columns.
    """
    if _is_frame(X):
        if _other_columns(X):
            _of_frame(X, name)
    elif isinstance(X, np.ndarray | list | tuple):
        _check_times(np.asarray(X), name)


def _of_frame(X: Any, name: str) -> Any:
    """A data frame as an array; columns that hold no numbers are named."""
    others = _other_columns(X)
    try:
        if not any(_are_times(_column(X, j)) for j in others):
            return _frame_array(X)
    except (TypeError, ValueError):
        if not others:
            raise
    shown = ", ".join(repr(X.columns[j]) for j in others[:5]) + (", ..." if others[5:] else "")
    # pandas counts durations among the numbers.
    pandas = 'select_dtypes("number", exclude="timedelta")'
    how = pandas if hasattr(X, "select_dtypes") else "select(polars.selectors.numeric())"
    raise ValueError(
        f"{name} must be a table of numbers, but has columns of other types: {shown}. Select "
        f"the numeric ones with {name}.{how}, or encode the others."
    ) from None


def _is_frame(X: Any) -> bool:
    return all(hasattr(X, attribute) for attribute in ("to_numpy", "columns", "dtypes"))


def _other_columns(X: Any) -> list[int]:
    """Which columns of a data frame are not stored as numbers or truth values."""
    return [j for j, dtype in enumerate(X.dtypes) if not NUMBERS.match(str(dtype))]


def _column(X: Any, j: int) -> Array:
    return np.asarray(X.iloc[:, j] if hasattr(X, "iloc") else X[:, j])


def _frame_array(X: Any) -> Any:
    array = X.to_numpy()
    if array.dtype.kind not in "OSU":
        return array
    if hasattr(X, "select_dtypes"):
        return X.to_numpy(dtype=np.float64, na_value=np.nan)
    return array.astype(np.float64)


def _are_times(array: Array) -> bool:
    """Whether entries are dates, times or durations."""
    if array.dtype.kind != "O":
        return array.dtype.kind in "mM"
    return any(issubclass(kind, TIMES) for kind in set(map(type, array.flat)))


def _check_times(array: Array, name: str) -> None:
    if not _are_times(array):
        return
    where = ""
    if array.dtype.kind == "O" and array.ndim == 2:
        where = f" in column {next(j for j, x in enumerate(array.T) if _are_times(x))}"
    what = "dates or times" if array.dtype.kind == "O" else f"dtype {array.dtype}"
    raise ValueError(
        f"{name} must hold real numbers, but has {what}{where}. Select or encode the numeric "
        "columns first."
    )


def is_device_array(X: Any) -> bool:
    """Whether X is an array of another library than numpy."""
    return is_array_api_obj(X) and not isinstance(X, np.ndarray | np.generic)


def _check_device_array(X: Any, name: str) -> None:
    """Whether there are numbers in an array of another library, one after the other."""
    if not is_torch_array(X):
        return
    if X.is_meta:
        raise ValueError(
            f"{name} is a tensor on the device 'meta', which holds no numbers. Make it with data, "
            "on a device that has memory."
        )
    layout = str(X.layout).rpartition(".")[2]
    if layout != "strided":
        raise ValueError(
            f"{name} is a torch tensor with the layout {layout}, which is not read. Pass a sparse "
            f"matrix of scipy, or {name}.to_dense()."
        )


def _as_array(X: Any, name: str) -> Array:
    try:
        array = np.asarray(X)
        numeric = array.astype(np.float64) if array.dtype.kind == "O" else array
    except OverflowError:
        raise ValueError(
            f"{name} is out of range: it has a whole number with too many digits for double "
            "precision. Measure it in other units."
        ) from None
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"{name} must be a table of numbers, but could not be read as one: {error}. Select or "
            "encode the numeric columns first, and give every row the same length."
        ) from None
    _check_times(array, name)
    return numeric


def _check_finite(X: Any, name: str) -> None:
    sparse = issparse(X)
    values: Any = X.data.reshape(-1, 1) if sparse else X
    on_device = not isinstance(values, np.ndarray)
    rows = max(1, (CHECK_DEVICE if on_device else CHECK_ELEMENTS) // values.shape[1])
    for part in pieces(values.shape[0], rows):
        if sparse:
            _check_stored(X, part, name)
        else:
            check_finite(values[part, :], name, part.start)


def _check_stored(X: Any, part: slice, name: str) -> None:
    """Of a sparse matrix in rows the place of an entry is looked for only if it is needed."""
    values = X.data[part]
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        at = part.start + int(np.argmin(np.isfinite(values)))
        row = np.zeros((1, X.shape[1]), values.dtype)
        row[0, X.indices[at]] = X.data[at]
        check_finite(row, name, int(np.searchsorted(X.indptr, at, side="right")) - 1)


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
    """A finite real number in (above, at_most] or [at_least, at_most], and below `below`."""
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
    vector = _as_array(on_host(value) if is_device_array(value) else value, name)
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


def fit_generator(value: Any) -> np.random.Generator:
    """A generator for what a fit draws, in a stream of its own.

    Data are often drawn from the same whole number, and random directions must not be rows of them.
    """
    if isinstance(value, numbers.Integral):
        return np.random.default_rng([check_whole(value, "random_state", 0), FIT_STREAM])
    return check_random_state(value)


def largest_distance(dtype: np.dtype[Any]) -> float:
    """Distances up to this have squares that can be summed, and squares of squares."""
    return min(float(np.finfo(dtype).max ** 0.42), 1e70)


def check_center(center: Array, dtype: np.dtype[Any], name: str) -> None:
    """Whether the first centre, of the user or of X, is near enough to the origin."""
    largest = float(np.abs(center).max())
    if not largest < largest_distance(dtype) / np.sqrt(len(center)):
        raise ValueError(
            f"{name} is out of range: numbers of the size of {largest:.3g} lie so far from zero "
            "that squares of distances are no numbers any more. Measure them in other units, or "
            "from another origin."
        )


def check_range(table: Table, center: Array, distances: Rows, reach: float = 0.0) -> float:
    """Whether the squared distances of the rows from a centre can be computed with.

    Parameters
    ----------
    table : Table
    center : array of shape (d,)
    distances : array of shape (n,)
        Squared.
    reach : float
        As far from the mean as sigma allows a single row to lie, if there is a sigma. Rows that
        are nearer than that need not be told apart.

    Returns
    -------
    float
        The median distance.
    """
    typical = float(np.sqrt(median(distances)))
    if not typical < 1e-4 * largest_distance(table.dtype):
        raise ValueError(
            "X is out of range: half of its rows lie so far from the others, or from the start, "
            "that the squares of their distances are no numbers any more. Measure X in other units."
        )
    smallest = float(np.sqrt(np.finfo(table.dtype).tiny)) * 1e4
    if reach >= smallest:
        return typical
    farthest = float(np.sqrt(highest(distances)))
    if farthest == 0.0:  # the same rows, or squares that are rounded to zero
        # Whole numbers, by which nothing is rounded to zero; hardly any rows cancel out.
        weights = np.random.default_rng(0).integers(1, 1000, table.shape[0]).astype(np.float64)
        farthest = float(np.abs(table.combine(center, table.beside(weights)[None, :])).max())
    if farthest > 0.0 and reach > 0.0:
        raise ValueError(
            f"sigma is out of range: it allows for distances of {reach:.3g}, and the squares of "
            f"those are no numbers any more in the precision of X, {table.dtype}. Measure X and "
            "sigma in other units."
        )
    if 0.0 < farthest < smallest:
        raise ValueError(
            "X is out of range: its rows lie so near to each other that the squares of their "
            "distances are no numbers any more. Measure X in other units."
        )
    return typical


def check_budget(budget: float, what: str) -> None:
    """Whether c1^2 n sigma^2 is a number that can be computed with."""
    if not SMALLEST_BUDGET < budget < 1.0 / SMALLEST_BUDGET:
        raise ValueError(
            f"{what} is out of range: c1^2 times the number of rows times the square of sigma must "
            "be a number. Measure X and sigma in other units."
        )
