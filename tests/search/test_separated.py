"""Groups that are well separated from the rest, and what a fit with nothing given keeps."""

import numpy as np
import pytest

from fits import fitted
from inlier.research.datasets import Cluster

# -- what is kept ---------------------------------------------------------------------------------

CLEAN = {
    "lognormal": lambda rng, n, d: rng.lognormal(size=(n, d)),
    "exponential": lambda rng, n, d: rng.exponential(size=(n, d)),
    "t3": lambda rng, n, d: rng.standard_t(3, size=(n, d)),
    "Poisson": lambda rng, n, d: rng.poisson(1.0, size=(n, d)).astype(float),
    "binary": lambda rng, n, d: (rng.random((n, d)) < 0.1).astype(float),
    "one-hot": lambda rng, n, d: np.eye(d + 1)[rng.integers(d + 1, size=n)],
    "classes": lambda rng, n, d: rng.standard_normal((n, d)) + 8.0 * rng.integers(3, size=(n, 1)),
}


@pytest.mark.parametrize("kind", CLEAN)
def test_clean_rows_of_any_kind_are_kept(kind):
    lost = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        n, d = [(20, 3), (60, 1), (200, 10), (400, 4)][seed % 4]
        lost += not fitted(CLEAN[kind](rng, n, d)).support.all()
    assert lost <= 1


def test_too_few_rows_are_kept():
    X = np.random.default_rng(0).standard_normal((7, 2))
    X[0] = 100.0
    result = fitted(X)
    assert result.support.all()
    assert "Too few rows to judge" in result.message


def test_a_rare_code_does_not_make_a_row_long():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.standard_normal((2000, 20)), rng.random(2000) < 3e-3])
    assert fitted(X).support.all()


# -- what must not matter -------------------------------------------------------------------------


@pytest.mark.parametrize("odd", ["one cell of a bad row", "squares underflow", "constant"])
def test_an_odd_column_changes_nothing(odd):
    sample = Cluster(1000, 50, 0.2, distance=5.0).sample(0)
    column = {
        "one cell of a bad row": np.arange(1000.0) == np.flatnonzero(sample.is_outlier)[0],
        "squares underflow": 1e-170 * np.random.default_rng(0).standard_normal(1000),
        "constant": np.full(1000, 7.0),
    }[odd]
    support = fitted(np.column_stack([sample.X, column])).support
    np.testing.assert_array_equal(support, fitted(sample.X).support)


# -- suspects -------------------------------------------------------------------------------------


def skewed_with_a_group(seed):
    rng = np.random.default_rng(seed)
    X = np.r_[rng.exponential(size=(180, 6)), 0.05 * rng.standard_normal((30, 6)) - 2.0]
    return X, np.arange(180, 210)


@pytest.mark.parametrize("seed", [0, 1, 4])
def test_a_separated_group_beside_skewed_rows_is_suspected_and_can_be_dropped(seed):
    X, group = skewed_with_a_group(seed)
    result = fitted(X, assume="nothing")
    assert result.support.all()
    (suspect,) = result.suspects
    np.testing.assert_array_equal(np.sort(suspect.rows), group)
    moved = X[:180].mean(axis=0) - X.mean(axis=0)
    along = (X - X.mean(axis=0)) @ moved / np.linalg.norm(moved)
    errors = np.linalg.norm(moved) / (along.std() / np.sqrt(len(X)))
    assert suspect.shift == pytest.approx(errors, rel=1e-6)
    assert "kept, because the other rows are skewed" in str(suspect)
    dropped = result.drop(0)
    np.testing.assert_array_equal(dropped.outliers, group)
    assert dropped.suspects == () and dropped.certificate.verify(X).holds
    np.testing.assert_array_equal(dropped.support, dropped.scores <= 1.0)
    assert dropped.keep(0).support.all()


@pytest.mark.parametrize("seed", range(4))
def test_a_level_of_one_column_is_no_group(seed):
    """Logarithms of amounts of which a sixth are 0: far apart, and as good as the others."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((600, 5)) @ (np.eye(5) + 0.3)
    X[:, 0] += 11.0
    level = rng.random(600) < 1 / 6
    X[level, 0] = 0.0
    assert fitted(X, assume="nothing").support.all()
    # Rows that are elsewhere in another column too, or have values of their own, are a group.
    elsewhere = np.array([0.0, 9.0, 0.0, 0.0, 0.0])
    for move in (lambda G: elsewhere + G, lambda G: 0.02 * G):
        Y = X.copy()
        Y[level] = move(Y[level])
        np.testing.assert_array_equal(fitted(Y, assume="nothing").support, ~level)


@pytest.mark.parametrize("suspect", [3, -3, 0.5, "0", None])
def test_drop_names_a_wrong_argument(suspect):
    result = fitted(skewed_with_a_group(0)[0], assume="nothing")
    with pytest.raises(ValueError, match=r"\bsuspect\b"):
        result.drop(suspect)


# -- chains ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_a_group_is_removed_although_fewer_rows_fill_the_gap(seed):
    rng = np.random.default_rng(seed)
    X = rng.poisson(2.0, (1000, 20)).astype(float)
    along = np.r_[np.geomspace(4.0, 150.0, 100), 150.0 * rng.uniform(1.0, 1.3, 100)]
    X[800:] = 2.0 + 0.7 * rng.standard_normal((200, 20))
    X[800:, 2] += 1.4 * along
    result = fitted(X)
    assert np.mean(~result.support[:800]) < 0.03
    assert abs(result.location - X[:800].mean(axis=0))[2] < 0.5 * X[:800, 2].std()
    group = result.groups[-1]
    assert group.kind == "chain" and np.isnan(group.p_value)
    sizes = X[:, 2] - np.median(X[result.support, 2])
    # What is said of most of them, in a direction that is nearly this column.
    assert np.median(sizes[group.rows]) > 0.9 * group.ratio * abs(sizes[result.support]).max()


def test_a_chain_is_named_beside_other_groups():
    rng = np.random.default_rng(0)
    X = rng.poisson(2.0, (1000, 20)).astype(float)
    along = np.r_[np.geomspace(4.0, 150.0, 100), 150.0 * rng.uniform(1.0, 1.3, 100)]
    X[800:] = 2.0 + 0.7 * rng.standard_normal((200, 20))
    X[800:, 2] += 1.4 * along
    X[0] = 1e5
    assert [group.kind for group in fitted(X).groups] == ["cells", "chain"]


def test_rows_that_lie_evenly_on_the_way_out_are_a_chain():
    rng = np.random.default_rng(3)
    X = np.exp(0.5 * rng.standard_normal((300, 5)))
    X[240:] = X[:240].mean(axis=0) + 0.3 * rng.standard_normal((60, 5))
    X[240:, 2] += 0.6 * rng.uniform(3.0, 400.0, 60)
    result = fitted(X)
    assert [group.kind for group in result.groups] == ["chain"]
    assert result.support[:240].all() and result.support[240:].sum() < 6


@pytest.mark.parametrize("law", ["standard_cauchy", "pareto"])
def test_a_heavy_tail_is_no_chain(law):
    for seed in range(15):
        rng = np.random.default_rng(seed)
        shape = [(60, 8), (300, 5), (1000, 12)][seed % 3]
        X = rng.pareto(1.0, shape) if law == "pareto" else rng.standard_cauchy(shape)
        assert not any(group.kind == "chain" for group in fitted(X).groups)


def growth(rng, n, d):
    """Series that grow exponentially, by a factor of 3000: their logarithms are spread evenly."""
    noise = np.cumsum(rng.standard_normal((n, d)), axis=0) / np.sqrt(n)
    return np.exp(np.linspace(0.0, 8.0, n)[:, None] + 0.1 * noise)


def amounts_or_nothing(rng, n, d):
    return (rng.random((n, d)) < 0.1) * rng.lognormal(sigma=2.0, size=(n, d))


@pytest.mark.parametrize("law", [growth, amounts_or_nothing])
def test_sizes_of_many_orders_of_magnitude_are_no_chain(law):
    found = 0
    for seed in range(25):
        for shape in ((100, 5), (300, 2)):
            X = law(np.random.default_rng(seed), *shape)
            found += any(group.kind == "chain" for group in fitted(X).groups)
    assert found <= 1
