"""Tables held by Dask against the same numbers in memory: threads, and a real cluster."""

import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
distributed = pytest.importorskip("distributed")
pd = pytest.importorskip("pandas")

from threadpoolctl import threadpool_info  # noqa: E402

import inlier  # noqa: E402
from inlier.data import Metric  # noqa: E402
from inlier.data.arrays import DenseTable  # noqa: E402
from inlier.data.dask import DaskTable, open_dask  # noqa: E402

N, D = 300, 7
# One chunk of a single row, and two without any.
UNEVEN = ((100, 1, 0, 99, 80, 20, 0), (3, 4))


def real_numbers(shape: tuple[int, int] = (N, D), seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.standard_normal(shape) + np.linspace(-1.0, 1.0, shape[1])


def frame(X: np.ndarray, n_partitions: int = 4) -> Any:
    columns = [f"c{j}" for j in range(X.shape[1])]
    return dd.from_pandas(pd.DataFrame(X, columns=columns), npartitions=n_partitions)


def unknown_lengths(X: np.ndarray) -> Any:
    array = frame(X).to_dask_array()
    assert np.isnan(array.shape[0])
    return array


# Name of the kind -> the data as a user would hold them, from an array.
KINDS: dict[str, Callable[[np.ndarray], Any]] = {
    "uneven": lambda X: da.from_array(X, chunks=UNEVEN),
    "float32": lambda X: da.from_array(X.astype(np.float32), chunks=UNEVEN),
    "far float32": lambda X: da.from_array((X + 1e3).astype(np.float32), chunks=(64, D)),
    "int8": lambda X: da.from_array((30 * X).astype(np.int8), chunks=(77, 2)),
    "one chunk": lambda X: da.from_array(X, chunks=X.shape),
    "Fortran": lambda X: da.from_array(np.asfortranarray(X), chunks=(128, D)),
    "dataframe": frame,
    "unknown lengths": unknown_lengths,
}


class Case:
    """A table beside the same numbers in memory, and arguments for the passes."""

    def __init__(self, data: Any, client: Any = None) -> None:
        self.table = open_dask(data, client=client)
        Y = np.asarray(data.compute(scheduler="synchronous"))
        self.dense = DenseTable(Y)
        self.Y = Y.astype(np.float64)
        n, d = Y.shape
        rng = np.random.default_rng(1)
        self.center = self.Y.mean(axis=0) + 0.1 * rng.standard_normal(d)
        self.basis = np.linalg.qr(rng.standard_normal((d, 3)))[0].T
        self.weights = rng.random(n)
        self.coefficients = rng.standard_normal((2, n))
        self.mask = rng.random(n) < 0.7
        self.mask[:120] = False  # all rows of the first chunk
        self.tol = 1e-5 if self.table.dtype == np.float32 else 1e-12

    def near(self, actual: Any, expected: Any) -> None:
        """Every entry is right to within `tol` of the largest."""
        assert type(actual) is np.ndarray
        assert actual.shape == expected.shape
        assert actual.dtype == expected.dtype
        largest = np.abs(expected).max()
        np.testing.assert_allclose(actual, expected, rtol=0.0, atol=self.tol * largest)

    def check(self, name: str) -> None:
        verb = VERBS[name]
        actual, expected = verb(self.table, self), verb(self.dense, self)
        if not isinstance(actual, tuple):
            actual, expected = (actual,), (expected,)
        for one, other in zip(actual, expected, strict=True):
            self.near(one, other)


def weigh(rows: slice, seen: np.ndarray) -> np.ndarray:
    return 1.0 / (1.0 + np.square(seen).sum(axis=0))


def seen_in_metric(table: Any, case: Case) -> np.ndarray:
    metric = Metric(case.center, np.linalg.cholesky(np.cov(case.Y.T)))
    return table.in_metric(metric).sq_distances(np.zeros(table.shape[1]))


def some_rows(table: Any) -> np.ndarray:
    n = table.shape[0]
    return table.some(np.array([n - 1, 0, 5, 5, n // 2]))


VERBS: dict[str, Callable[[Any, Case], Any]] = {
    "project": lambda t, c: t.project(c.center, c.basis),
    "moment": lambda t, c: t.moment(c.center, c.weights, c.basis),
    "moment of a function": lambda t, c: t.moment(c.center, weigh, c.basis),
    "moment of no direction": lambda t, c: t.moment(c.center, c.weights, c.basis[:0])[2],
    "scatter": lambda t, c: t.scatter(c.center, c.weights),
    "squares": lambda t, c: t.squares(c.center, c.weights),
    "combine": lambda t, c: t.combine(c.center, c.coefficients),
    "mean": lambda t, c: t.mean(c.weights, c.center),
    "median": lambda t, c: t.median(),
    "sampled median": lambda t, c: t.median(np.random.default_rng(3)),
    "sq_distances": lambda t, c: t.sq_distances(c.center),
    "gram": lambda t, c: t.gram(c.center),
    "some": lambda t, c: some_rows(t),
    "take": lambda t, c: t.take(c.mask).moment(c.center, c.weights[c.mask], c.basis),
    "take twice": lambda t, c: t.take(c.mask).take(np.arange(c.mask.sum()) % 2 == 0).median(),
    "some of those taken": lambda t, c: some_rows(t.take(c.mask)),
    "gram of those taken": lambda t, c: t.take(c.mask).gram(c.center),
    "metric": seen_in_metric,
    "metric of those taken": lambda t, c: seen_in_metric(t.take(c.mask), c),
}


@pytest.fixture(scope="module", params=KINDS)
def case(request: pytest.FixtureRequest) -> Case:
    return Case(KINDS[request.param](real_numbers()))


# -- threads --------------------------------------------------------------------------------------


@pytest.mark.parametrize("verb", VERBS)
def test_verb_agrees_with_the_numbers_in_memory(case, verb):
    case.check(verb)


def test_every_pass_is_counted():
    case = Case(KINDS["uneven"](real_numbers()))
    counts = []
    for name in ("project", "moment", "scatter", "squares", "sq_distances", "gram", "some"):
        before = case.table.n_passes
        VERBS[name](case.table, case)
        counts.append(case.table.n_passes - before)
    assert counts == [1, 1, 1, 1, 1, 1, 0]


def test_data_are_read_once():
    reads = Counter()

    def read(block: np.ndarray, block_info: Any = None) -> np.ndarray:
        reads["block"] += 1
        return block

    X = real_numbers()
    data = da.from_array(X, chunks=(100, D)).map_blocks(read, dtype=X.dtype, meta=X[:0])
    case = Case(data)
    reads.clear()
    table = open_dask(data)
    for _ in range(3):
        table.sq_distances(case.center)
        table.take(case.mask).project(case.center, case.basis)
    assert reads["block"] == 3


def test_linear_algebra_keeps_to_one_thread_and_then_has_its_own_number_again():
    def threads() -> list[int]:
        return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]

    before = threads()
    seen = []

    def look(block: np.ndarray, *_: Any) -> tuple[np.ndarray, tuple[np.ndarray, ...]]:
        seen.extend(threads())
        return block[:, 0].astype(float), (np.ones(1),)

    table = open_dask(da.from_array(real_numbers(), chunks=(50, D)))
    first, sums = table._run(look)
    np.testing.assert_array_equal(first, real_numbers()[:, 0])
    assert sums == [6.0]
    assert set(seen) == {1}
    assert threads() == before


# -- what is wrong with the data ------------------------------------------------------------------


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("verb", ["project", "scatter", "median", "gram", "metric", "take"])
def test_a_number_that_is_none_is_found_by_the_first_pass(verb, bad):
    case = Case(KINDS["uneven"](real_numbers()))
    X = real_numbers()
    X[150, 4] = bad
    X[280, 1] = bad
    table = open_dask(da.from_array(X, chunks=UNEVEN), name="Z")
    with pytest.raises(ValueError, match=r"Z contains NaN.*row 150, column 4"):
        VERBS[verb](table, case)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (da.zeros(5), r"shape \(5,\)"),
        (da.zeros((5, 2, 2)), r"shape \(5, 2, 2\)"),
        (da.zeros((1, 4)), "at least 2 rows, but has 1"),
        (da.zeros((4, 0)), "at least 1 column"),
        (da.zeros((5, 2), dtype=complex), "complex128"),
        (da.from_array(np.array([["a", 1]] * 5, dtype=object), chunks=2), "object"),
        (dd.from_pandas(pd.DataFrame({"x": [1.0, 2], "y": ["a", "b"]}), npartitions=1), "'y'"),
        (dd.from_pandas(pd.DataFrame({"x": [1.0, 2]}), npartitions=1)["x"], "Series"),
    ],
)
def test_what_is_not_a_table_of_numbers_is_refused(data, message):
    with pytest.raises(ValueError, match=rf"X .*{message}"):
        open_dask(data)


def test_columns_of_several_dtypes():
    columns = {
        "i": np.arange(6),
        "f": np.linspace(0, 1, 6).astype(np.float32),
        "b": np.arange(6) > 2,
        "n": pd.array([1, 2, 3, 4, 5, 6], dtype="Int64"),
    }
    table = open_dask(dd.from_pandas(pd.DataFrame(columns), npartitions=2))
    expected = np.array([np.asarray(x, dtype=float) for x in columns.values()]).T
    np.testing.assert_array_equal(table.some(np.arange(6)), expected)


def test_a_missing_value_of_a_dataframe_is_found():
    columns = {"a": pd.array([1, None, 3], dtype="Int64"), "b": [1.0, 2.0, 3.0]}
    table = open_dask(dd.from_pandas(pd.DataFrame(columns), npartitions=1))
    with pytest.raises(ValueError, match="row 1, column 0"):
        table.sq_distances(np.zeros(2))


def test_a_client_is_a_client():
    with pytest.raises(ValueError, match="client must be"):
        open_dask(da.zeros((5, 2)), client=8786)


def test_data_that_are_not_kept_in_memory():
    X = real_numbers()
    table = open_dask(da.from_array(X, chunks=UNEVEN) * 2.0, persist=False)
    np.testing.assert_allclose(table.sq_distances(np.zeros(D)), np.square(2.0 * X).sum(axis=1))


def test_without_the_package_the_message_says_what_to_install():
    code = "import sys; sys.modules['dask'] = None; import inlier.data.dask"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert 'pip install "inlier[dask]"' in done.stderr


# -- a cluster ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    ) as cluster:
        yield cluster


@pytest.fixture
def client(cluster: Any) -> Iterator[Any]:
    with distributed.Client(cluster) as client:
        client.wait_for_workers(2, timeout=30)
        yield client


@pytest.mark.parametrize("kind", ["uneven", "float32", "dataframe"])
def test_a_cluster_gives_the_same_answers(client, kind):
    case = Case(KINDS[kind](real_numbers()))
    assert case.table._cluster.client is client
    for verb in VERBS:
        case.check(verb)


def test_the_address_of_a_scheduler(cluster):
    data = da.from_array(real_numbers(), chunks=(90, D))
    case = Case(data, client=cluster.scheduler_address)
    with case.table._cluster.client:
        for verb in ("moment", "median", "some", "metric of those taken"):
            case.check(verb)
    assert open_dask(data)._cluster.client is None, "only this table uses it"


def test_an_error_of_a_worker_arrives(client):
    X = real_numbers()
    X[[250, 290], 2] = np.nan
    table = open_dask(da.from_array(X, chunks=(90, D)))
    with pytest.raises(ValueError, match="row 250, column 2"):
        table.sq_distances(np.zeros(D))


def test_a_large_graph_is_no_reason_to_warn(client, recwarn):
    table = open_dask(da.random.default_rng(0).standard_normal((200_000, 2), chunks=(50_000, 2)))
    table.combine(np.zeros(2), np.ones((10, 200_000)))
    assert [str(w.message) for w in recwarn if "large graph" in str(w.message)] == []


class Transitions(distributed.SchedulerPlugin):
    """Which tasks a scheduler has had done."""

    def __init__(self) -> None:
        self.done: list[Any] = []

    def transition(self, key: Any, start: str, finish: str, *args: Any, **kwargs: Any) -> None:
        if start == "processing" and finish == "memory":
            self.done.append(key)


@pytest.mark.parametrize(
    ("verb", "per_chunk", "n_sums"),
    [
        ("sq_distances", 1, 0),
        ("project", 1, 0),
        ("combine", 1, 4),
        ("scatter", 1, 4),
        ("squares", 1, 4),
        ("moment", 3, 4),  # both kinds of results, told apart where they are
    ],
)
def test_one_task_for_each_chunk_and_a_tree(client, cluster, verb, per_chunk, n_sums):
    n_chunks = 20
    case = Case(da.from_array(real_numbers(), chunks=(N // n_chunks, D)))
    VERBS["sq_distances"](case.table, case)
    transitions = Transitions()
    cluster.scheduler.add_plugin(transitions, name="transitions")
    try:
        VERBS[verb](case.table, case)
    finally:
        cluster.scheduler.remove_plugin("transitions")
    shared = [key for key in transitions.done if isinstance(key, str)]
    assert len(shared) <= 1, "what the pass holds is sent once"
    assert len(transitions.done) - len(shared) == per_chunk * n_chunks + n_sums


def test_a_worker_that_dies_is_made_up_for(client):
    data = da.random.default_rng(5).standard_normal((4000, 6), chunks=(250, 6))
    case = Case(data)
    assert isinstance(case.table, DaskTable)
    taken = case.table.take(np.arange(4000) % 3 > 0)
    metric = Metric(case.center, np.linalg.cholesky(np.cov(case.Y.T)))
    in_metric = case.table.in_metric(metric)
    pids = list(client.run(os.getpid).values())
    for step in range(6):
        if step in (1, 3):
            os.kill(pids[step // 2], signal.SIGKILL)
        for verb in ("moment", "sq_distances", "scatter"):
            case.check(verb)
        expected = case.dense.take(np.arange(4000) % 3 > 0).sq_distances(case.center)
        case.near(taken.sq_distances(case.center), expected)
        expected = case.dense.in_metric(metric).sq_distances(case.center)
        case.near(in_metric.sq_distances(case.center), expected)


# -- whole fits ------------------------------------------------------------------------------------


@pytest.mark.parametrize("given", [{"sigma": 1.2}, {}], ids=["sigma", "nothing"])
def test_a_fit_is_that_of_numpy_even_if_a_worker_dies_in_its_midst(client, given):
    sample = inlier.datasets.SettingB(n=6000, d=20, alpha=0.2).sample(random_state=0)
    data = da.from_array(sample.X, chunks=(1000, 20))
    killed = []

    def kill_one(step):
        if not killed:
            killed.extend(client.run(os.getpid).values())
            os.kill(killed[0], signal.SIGKILL)

    expected = inlier.robust_mean(sample.X, **given)
    result = inlier.robust_mean(data, callback=kill_one, **given)
    assert killed
    np.testing.assert_array_equal(result.support, expected.support)
    np.testing.assert_allclose(result.location, expected.location, rtol=0.0, atol=1e-12)
    assert result.n_passes == expected.n_passes
    client.wait_for_workers(2, timeout=30)


def test_a_fit_by_the_address_of_a_scheduler(cluster):
    sample = inlier.datasets.SettingA(n=3000, d=40, alpha=0.1).sample(random_state=0)
    data = da.from_array(sample.X, chunks=(800, 40))
    table = inlier.open_table(data, client=cluster.scheduler_address)
    with table._cluster.client:
        result = inlier.robust_mean(table)
    np.testing.assert_array_equal(result.support, ~sample.is_outlier)


def test_a_rule_from_a_part_of_the_rows_judges_all_of_them():
    sample = inlier.datasets.SettingB(n=8000, d=60, alpha=0.2).sample(random_state=0)
    X = da.from_array(sample.X, chunks=(1000, 60))
    model = inlier.RobustMean().fit(X[np.arange(0, 8000, 4)])
    good = X.map_blocks(model.predict, drop_axis=1, dtype=int) > 0
    assert (good.compute() == ~sample.is_outlier).mean() > 0.999
