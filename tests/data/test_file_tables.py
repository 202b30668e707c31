"""Tables in files: the same passes as in memory, in bounded memory, with errors that help."""

import os
import pickle
import subprocess
import sys
import textwrap
import threading
import tracemalloc
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from inlier import RobustCovariance, RobustMean, RobustPCA, robust_mean
from inlier.data import Metric
from inlier.data import files as files_module
from inlier.data.arrays import DenseTable
from inlier.data.files import FileTable, open_file
from inlier.data.sources.base import Source
from libraries import Verbs

SHAPE = (37, 6)
SMALL = 64 * SHAPE[1] * 5  # bytes: parts of at most 5 rows


def numbers(shape: tuple[int, int], dtype: Any, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(-60, 61, shape).astype(dtype)


# -- the homes that a table may have --------------------------------------------------------------


def npy(X: np.ndarray, folder: Path) -> Path:
    np.save(folder / "table.npy", X)
    return folder / "table.npy"


def memory_map(X: np.ndarray, folder: Path) -> np.memmap:
    with open(folder / "table.bin", "wb") as file:
        file.write(b"0123456789abcdef")
        file.write(X.tobytes())
    return np.memmap(folder / "table.bin", X.dtype, "r", 16, X.shape)


def part_of_a_map(X: np.ndarray, folder: Path) -> np.memmap:
    larger = np.full((2 * X.shape[0] + 3, X.shape[1] + 2), 99, X.dtype)
    larger[3::2, 1:-1] = X
    return np.load(npy(larger, folder), mmap_mode="r")[3::2, 1:-1]


def changed_map(X: np.ndarray, folder: Path) -> np.memmap:
    mapped = np.load(npy(np.zeros_like(X), folder), mmap_mode="c")
    mapped[:] = X
    return mapped


def zarr_array(X: np.ndarray, folder: Path, chunks: tuple[int, int] = (4, 4), **given: Any) -> Any:
    zarr = pytest.importorskip("zarr")
    array = zarr.create_array(
        folder / "t.zarr", shape=X.shape, chunks=chunks, dtype=X.dtype, **given
    )
    array[:] = X
    return array


def zarr_shards(X: np.ndarray, folder: Path) -> str:
    zarr_array(X, folder, (2, 3), shards=(4, 6))
    return str(folder / "t.zarr")


def zarr_group(X: np.ndarray, folder: Path) -> str:
    zarr = pytest.importorskip("zarr")
    group = zarr.open_group(folder / "g.zarr", mode="w")
    for key, values in {"table": X, "ids": X[:, 0]}.items():
        group.create_array(key, shape=values.shape, dtype=values.dtype)[:] = values
    return str(folder / "g.zarr")


def hdf5(X: np.ndarray, folder: Path) -> Path:
    h5py = pytest.importorskip("h5py")
    with h5py.File(folder / "table.h5", "w") as file:
        file.create_dataset("inner/table", data=X, chunks=(4, 3), compression="gzip")
        file.create_dataset("ids", data=np.arange(len(X)))
    return folder / "table.h5"


def hdf5_dataset(X: np.ndarray, folder: Path) -> Any:
    h5py = pytest.importorskip("h5py")
    file = h5py.File(folder / "table.h5", "w")
    return file.create_dataset("table", data=X)


def csv(X: np.ndarray, folder: Path) -> Path:
    with open(folder / "table.csv", "w") as file:
        file.writelines(",".join(map(repr, row)) + "\n" for row in X.tolist())
    return folder / "table.csv"


def feather(X: np.ndarray, folder: Path) -> Path:
    from pyarrow.feather import write_feather

    write_feather(arrow_table(X), folder / "table.feather", chunksize=8)
    return folder / "table.feather"


def arrow_table(X: np.ndarray, folder: Path | None = None) -> Any:
    pyarrow = pytest.importorskip("pyarrow")
    return pyarrow.table({f"c{j}": column for j, column in enumerate(X.T)})


def parquet(X: np.ndarray, folder: Path) -> Path:
    from pyarrow.parquet import write_table

    write_table(arrow_table(X), folder / "table.parquet", row_group_size=11)
    return folder / "table.parquet"


def parquet_folder(X: np.ndarray, folder: Path) -> Path:
    from pyarrow.parquet import write_table

    (folder / "parts").mkdir()
    for i, part in enumerate(np.array_split(X, 3)):
        write_table(arrow_table(part), folder / "parts" / f"{i}.parquet", row_group_size=4)
    return folder / "parts"


def parquet_dataset(X: np.ndarray, folder: Path) -> Any:
    from pyarrow.dataset import dataset

    return dataset(parquet_folder(X, folder))


def parquet_file(X: np.ndarray, folder: Path) -> Any:
    from pyarrow.parquet import ParquetFile

    return ParquetFile(parquet(X, folder))


HOMES: dict[str, Callable[[np.ndarray, Path], Any]] = {
    "npy": npy,
    "npy, text": lambda X, folder: str(npy(X, folder)),
    "npy, Fortran": lambda X, folder: npy(np.asfortranarray(X), folder),
    "npy, big endian": lambda X, folder: npy(X.astype(X.dtype.newbyteorder(">")), folder),
    "memory map": memory_map,
    "memory map of a .npy": lambda X, folder: np.load(npy(X, folder), mmap_mode="r"),
    "part of a memory map": part_of_a_map,
    "memory map that was written to": changed_map,
    "zarr": zarr_array,
    "zarr, large chunks": lambda X, folder: zarr_array(X, folder, (100, 100)),
    "zarr, shards": zarr_shards,
    "zarr, group": zarr_group,
    "hdf5": hdf5,
    "hdf5, named": lambda X, folder: f"{hdf5(X, folder)}::inner/table",
    "hdf5, dataset": hdf5_dataset,
    "csv": csv,
    "feather": feather,
    "arrow": arrow_table,
    "parquet": parquet,
    "parquet, folder": parquet_folder,
    "parquet, dataset": parquet_dataset,
    "parquet, file": parquet_file,
}


@pytest.fixture(params=list(HOMES))
def home(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[np.ndarray], Any]:
    return lambda X: HOMES[request.param](X, tmp_path)


# -- every verb against a table in memory ---------------------------------------------------------


def assert_same(table: Any, X: np.ndarray, deep: bool = False) -> None:
    """Every pass over a table, and `deep` over parts of it, is that over the rows in memory."""
    verbs = Verbs(X, X)
    verbs.counts = False  # medians take many passes if little memory is allowed
    verbs.mask[: len(X) // 3] = False  # blocks of which nothing is left
    if X.dtype != np.float64:
        verbs.near = 1e-4  # rows in new coordinates are rounded to single precision by both
    verbs.check_all(table, DenseTable(X), deep)


def views(table: Any) -> list[Any]:
    """The table, some of its rows, and both in other coordinates."""
    some = np.arange(table.shape[0]) % 3 > 0
    metric = Metric(np.zeros(table.shape[1]), np.eye(table.shape[1]))
    taken = table.take(some)
    return [table, taken, taken.in_metric(metric), table.in_metric(metric).take(some)]


# Every home in small parts; as a whole, one of each kind of file.
WHOLE = ["npy", "zarr, shards", "hdf5", "csv", "feather", "parquet"]


@pytest.mark.parametrize(
    ("name", "memory"), [*((name, SMALL) for name in HOMES), *((name, 2**30) for name in WHOLE)]
)
def test_every_verb(tmp_path, name, memory):
    X = numbers(SHAPE, np.float64)
    assert_same(open_file(HOMES[name](X, tmp_path), memory=memory), X)


@pytest.mark.parametrize(
    ("dtype", "memory"), [(np.float32, SMALL), (np.float64, 2**30), (np.int16, SMALL)]
)
@pytest.mark.parametrize("make", [npy, memory_map, hdf5, parquet])
def test_every_view(tmp_path, make, dtype, memory):
    X = numbers(SHAPE, dtype)
    assert_same(open_file(make(X, tmp_path), memory=memory), X, deep=True)


@pytest.mark.parametrize("n", [2, 4, 5, 6, 20, 21])
def test_borders_of_blocks(tmp_path, monkeypatch, n):
    monkeypatch.setattr(files_module, "READ_BYTES", 5 * 4 * 8)  # 5 rows
    X = numbers((n, 4), np.float64)
    assert_same(open_file(npy(X, tmp_path)), X)
    assert_same(open_file(zarr_array(X, tmp_path, (2, 2))), X)


def test_more_columns_than_rows(home):
    X = numbers((9, 30), np.float64)
    # Groups of columns: 13 of them are held at a time.
    assert_same(open_file(home(X), memory=64 * 9 * 13), X)


# -- cost -----------------------------------------------------------------------------------------


class Counted:
    """An array that counts how often each row is read."""

    chunks = (4, 6)

    def __init__(self, X: np.ndarray) -> None:
        self.X, self.shape, self.dtype = X, X.shape, X.dtype
        self.reads = np.zeros(len(X), int)
        self.slices: list[slice] = []

    def __getitem__(self, key: tuple[slice, slice]) -> np.ndarray:
        self.reads[key[0]] += 1
        self.slices.append(key[0])
        return self.X[key].copy()


def counted(X: np.ndarray, memory: int) -> tuple[Counted, FileTable]:
    array = Counted(X)
    return array, FileTable(Source(lambda: nullcontext(array)), "X", memory)


def test_a_verb_is_one_pass_and_reads_every_row_once():
    n, d = SHAPE
    array, table = counted(numbers(SHAPE, np.float64), SMALL)
    center, w, V = np.zeros(d), np.ones(n), np.eye(2, d)
    views(table)
    assert table.n_passes == 0 and not array.reads.any()
    for count, call in enumerate(
        (
            lambda: table.project(center, V),
            lambda: table.moment(center, w, V),
            lambda: table.scatter(center, w),
            lambda: table.squares(center, w),
            lambda: table.combine(center, w[None]),
            lambda: table.sq_distances(center),
            lambda: table.take(w > 0).sq_distances(center),
        )
    ):
        call()
        assert (array.reads == count + 1).all()
    assert table.n_passes == 7, "a table made of this one counts for it"


# -- entries that are not finite ------------------------------------------------------------------


@pytest.mark.parametrize("memory", [SMALL, 2**30])
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_the_first_pass_names_what_is_not_finite(home, memory, bad):
    X = numbers(SHAPE, np.float32)
    X[23, 4] = bad
    X[30, 1] = np.nan
    kind = "NaN" if np.isnan(bad) else "infinity"
    message = rf"^table contains NaN or infinity \({kind}, the first at row 23, column 4\)"
    table = open_file(home(X), "table", memory)
    for call in (
        lambda: table.sq_distances(np.zeros(6)),
        lambda: table.take(np.arange(37) >= 10).scatter(np.zeros(6), np.ones(27)),
        lambda: table.fetch(np.arange(37)),
        lambda: table.gram(np.zeros(6)),
        lambda: table.median(),
    ):
        with pytest.raises(ValueError, match=message):
            call()


# -- interruptions --------------------------------------------------------------------------------


def our_threads() -> list[str]:
    return [t.name for t in threading.enumerate() if t.name.startswith("inlier-")]


def open_files(folder: Path) -> list[str]:
    links = Path("/proc/self/fd")
    if not links.exists():
        pytest.skip("this system does not tell which files are open")
    targets = []
    for link in links.iterdir():
        try:
            targets.append(str(link.readlink()))
        except OSError:
            continue
    return [target for target in targets if target.startswith(str(folder))]


@pytest.mark.parametrize("make", [npy, feather, parquet, hdf5])
def test_a_path_to_a_small_table_is_treated_as_an_array(make, tmp_path):
    X = numbers((200, 4), np.float64)
    X[3, 1], X[7, 2] = 1e4, np.nan
    path = make(X, tmp_path)
    result, expected = robust_mean(path), robust_mean(X)
    assert [cell.row for cell in result.cells if cell.set_aside] == [3]
    np.testing.assert_array_equal(result.support, expected.support)
    np.testing.assert_allclose(result.location, expected.location, rtol=1e-12)
    assert result.cells[0].name == ("c1" if make in (parquet, feather) else "x1")
    model = RobustMean().fit(path)
    np.testing.assert_array_equal(model.location_, result.location)
    np.testing.assert_array_equal(model.predict(path), np.where(result.support, 1, -1))
    assert result.certificate.verify(path)


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_a_path_is_treated_as_a_data_frame_with_the_names_of_its_columns(form, tmp_path):
    pd = pytest.importorskip("pandas")
    X = np.random.default_rng(0).standard_normal((200, 4)) * [1.0, 10.0, 0.1, 3.0]
    X[3, 1], X[7, 2] = 1e4, np.nan
    frame = pd.DataFrame(X, columns=list("abcd"), index=[f"row {i}" for i in range(200)])
    path, other = tmp_path / f"table.{form}", tmp_path / f"other.{form}"
    getattr(frame, f"to_{form}")(path)  # the labels of the rows are text
    getattr(frame[list("bacd")], f"to_{form}")(other)

    model = RobustMean().fit(path)
    assert model.feature_names_in_.tolist() == list("abcd")
    assert model.explain(path)[3].row == robust_mean(path).explain(3).row
    np.testing.assert_array_equal(model.predict(path), model.predict(frame))
    with pytest.raises(ValueError, match="another order: 'b', 'a', 'c', 'd'"):
        model.predict(other)
    again = pickle.loads(pickle.dumps(robust_mean(path))).with_data(path)
    assert again.cells[0].name == "b"
    for Estimator in (RobustCovariance, RobustPCA):
        assert_allclose_covariance(Estimator().fit(path), Estimator().fit(frame))


def assert_allclose_covariance(model: Any, expected: Any) -> None:
    assert model.feature_names_in_.tolist() == expected.feature_names_in_.tolist()
    name = "covariance_" if hasattr(model, "covariance_") else "components_"
    np.testing.assert_allclose(getattr(model, name), getattr(expected, name), rtol=1e-12)


@pytest.mark.parametrize("make", [npy, parquet])
def test_groups_of_a_path_are_those_of_an_array(make, tmp_path):
    X = np.random.default_rng(0).standard_normal((200, 4))
    X[3, 1], X[7, 2] = 1e4, np.nan
    path, groups = make(X, tmp_path), np.arange(200) % 2
    found, expected = robust_mean(path, groups=groups), robust_mean(X, groups=groups)
    np.testing.assert_array_equal(found.location, expected.location)
    np.testing.assert_array_equal(found.support, expected.support)
    assert found[1].cells[0].name == ("c1" if make is parquet else "x1")


def test_a_table_is_loaded_without_a_second_copy(tmp_path, monkeypatch):
    monkeypatch.setattr(files_module, "READ_BYTES", 1 << 16)
    table = open_file(npy(numbers((50_000, 20), np.float64), tmp_path))
    tracemalloc.start()
    X = table.loaded()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1.2 * X.nbytes


def test_a_text_without_a_header_has_no_names_of_columns(tmp_path):
    path = csv(numbers(SHAPE, np.float64), tmp_path)
    assert not hasattr(RobustMean().fit(path), "feature_names_in_")


@pytest.mark.parametrize("make", [npy, hdf5, parquet, parquet_folder])
@pytest.mark.parametrize("error", [ZeroDivisionError, KeyboardInterrupt])
def test_nothing_is_left_behind_after_an_interruption(tmp_path, monkeypatch, make, error):
    monkeypatch.setattr(files_module, "READ_BYTES", 1)
    table = open_file(make(numbers(SHAPE, np.float64), tmp_path))
    alive, seen = [], []

    def measure(rows: np.ndarray) -> np.ndarray:
        if sum(seen) >= 10:
            alive.extend(our_threads())
            raise error
        seen.append(len(rows))
        return rows[:, 0]

    with pytest.raises(error):
        table.measured(measure)
    assert alive, "another thread was reading"
    assert not our_threads()
    assert not open_files(tmp_path)
    table.sq_distances(np.zeros(6))
    assert not our_threads()
    assert not open_files(tmp_path)


def test_an_error_of_the_reader_is_raised(tmp_path):
    array, table = counted(numbers(SHAPE, np.float64), SMALL)
    array.X = array.X[:20]
    with pytest.raises(RuntimeError, match="had 37 rows when it was opened, and 20"):
        table.sq_distances(np.zeros(6))
    array.X = None
    with pytest.raises(TypeError):
        table.sq_distances(np.zeros(6))
    assert not our_threads()
    path = npy(numbers(SHAPE, np.float64), tmp_path)
    table = open_file(path)
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(ValueError, match=r"table.npy' could not be read"):
        table.sq_distances(np.zeros(6))


# -- errors ---------------------------------------------------------------------------------------


def test_memory_is_a_number_of_bytes(tmp_path):
    path = npy(numbers(SHAPE, np.float64), tmp_path)
    for memory in (0, -5, 1.5, "1 GB", None, True, np.nan):
        with pytest.raises(ValueError, match=r"^memory must be a whole number"):
            open_file(path, memory=memory)
    with pytest.raises(ValueError, match=r"^memory=383 .* 6 columns: allow at least 384 bytes"):
        open_file(path, memory=383)
    open_file(path, memory=384).sq_distances(np.zeros(6))


def test_what_is_no_table(tmp_path):
    from pyarrow.parquet import write_table

    for shape in ((1, 5), (0, 5), (5, 0)):
        with pytest.raises(ValueError, match=r"^data must have at least 2 rows and 1 column, but"):
            open_file(npy(np.zeros(shape), tmp_path), "data")
    for path in (tmp_path / "none.npy", f"{tmp_path}/none.h5::table"):
        with pytest.raises(FileNotFoundError, match=r"^data='.*none.*there is no such file"):
            open_file(path, "data")
    (tmp_path / "table").write_bytes(b"\x7fELF\0\0\0\0")
    with pytest.raises(ValueError, match=r"^data='.*' is of no known format"):
        open_file(tmp_path / "table", "data")
    with pytest.raises(ValueError, match=r"is a folder, and neither of zarr nor of Parquet files"):
        open_file(tmp_path, "data")
    with pytest.raises(TypeError, match=r"^data must be a path.*but is of type list"):
        open_file([[1, 2]], "data")
    folder = parquet_folder(numbers(SHAPE, np.float64), tmp_path)
    write_table(arrow_table(numbers((5, 2), np.float64)), folder / "9.parquet")
    with pytest.raises(ValueError, match="different columns"):
        open_file(folder)


# -- memory ---------------------------------------------------------------------------------------

BOUNDED = """
    import resource, sys
    import numpy as np
    from inlier.data import Metric
    from inlier.data.files import open_file

    path, limit, memory = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    try:
        np.ones(limit // 8)
    except MemoryError:
        pass
    else:
        raise SystemExit("the limit does not hold")
    table = open_file(path, memory=memory)
    n, d = table.shape
    center, w, V = np.full(d, 0.5), np.ones(n), np.eye(8, d)
    distances = table.sq_distances(center)
    moment = table.moment(center, w, V)
    table.combine(center, w[None])
    few = table.take(distances > np.median(distances))
    few.in_metric(Metric(center, np.ones(d))).sq_distances(center)
    np.testing.assert_allclose(moment.projection[0, :3], table.fetch(np.arange(3))[:, 0] - 0.5)
    np.testing.assert_allclose(moment.image[0, 0], np.square(moment.projection[0]).sum(), rtol=1e-4)
"""


def sparse_npy(path: Path, n: int, d: int) -> None:
    """Zeros that take no place on the disk, with a row of ones here and there."""
    with open(path, "wb") as file:
        np.lib.format.write_array_header_1_0(
            file, {"descr": "<f4", "fortran_order": False, "shape": (n, d)}
        )
        start = file.tell()
        file.truncate(start + 4 * n * d)
        for row in range(0, n, n // 50):
            file.seek(start + 4 * row * d)
            file.write(np.full(d, row % 7, "<f4").tobytes())


def run_within(code: str, *words: Any) -> None:
    """A program of its own, with one thread."""
    pytest.importorskip("resource")
    if sys.platform != "linux":
        pytest.skip("the limit holds on Linux only")
    threads = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL")}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", textwrap.dedent(code), *map(str, words)],
        capture_output=True,
        text=True,
        timeout=900,
        env={**os.environ, **threads},
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_memory_is_bounded(tmp_path):
    sparse_npy(tmp_path / "table.npy", 50_000, 2_048)  # 400 MB
    run_within(BOUNDED, tmp_path / "table.npy", 250_000_000, 2**26)
