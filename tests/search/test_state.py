"""Where the search stands: sizes, signs and doubts by hand."""

import numpy as np
import pytest

from inlier.data import as_table
from inlier.linalg.eigenpairs import Oracle
from inlier.search.state import Near, spectrum_of
from inlier.search.tests import Cut
from reference import contaminated, largest_eigenvalue
from symmetric_fits import started


def test_no_row_has_a_part_in_its_own_center():
    # Of independent rows the mean squared size is the same for those in the mean and the others.
    rng = np.random.default_rng(0)
    half = np.arange(200) < 20
    ratios = []
    for _ in range(50):
        X = rng.standard_normal((200, 300))
        center = X[half].mean(axis=0)
        near = Near(center, half, np.square(X - center).sum(axis=1))
        sizes = near.sizes()
        np.testing.assert_allclose(sizes[~half], np.sqrt(near.distances[~half]))
        ratios.append(np.mean(sizes[half] ** 2) / np.mean(sizes[~half] ** 2))
    assert np.mean(ratios) == pytest.approx(1.0, abs=0.01)


@pytest.mark.parametrize(("side", "sizes"), [(1, [-3, 0, 3]), (-1, [3, 0, -3]), (0, [3, 0, 3])])
def test_a_candidate_is_what_lies_beyond_its_cut_along_a_line(side, sizes):
    _, state = started(contaminated(3, 2))
    rows = np.array([-2.0, 1.0, 4.0])
    found = state.candidate("direction", np.eye(2)[0], rows, 1.0, Cut(cut=2.0, side=side))
    assert found.sizes.tolist() == sizes
    kept = np.array([False, True, True])
    np.testing.assert_array_equal(found.among(kept), kept & (found.sizes > 2.0))
    np.testing.assert_allclose(found.center, state.mean + np.eye(2)[0])


def test_the_clearest_doubt_is_remembered():
    _, state = started(contaminated(), 1e-3)
    assert state.least_variance == pytest.approx((8e-3) ** 2)
    for log_p in (-2.0, -5.0, -3.0):
        state.doubt(Cut(log_p=log_p))
    assert state.doubtful.log_p == -5.0
    assert state.kept.all() and state.groups == []


@pytest.mark.parametrize("shape", [(60, 4), (80, 300)])
def test_the_spectrum_is_that_of_the_kept_rows(shape):
    X = contaminated(*shape)
    kept = np.arange(len(X)) >= 6
    mean = X[kept].mean(axis=0)
    found = spectrum_of(Oracle(as_table(X), np.random.default_rng(0)), mean, kept)
    top = largest_eigenvalue(X[kept] - mean, np.ones(kept.sum()))
    assert 0.9 * top <= found.values[0] <= top * (1.0 + 1e-9)
    assert found.bound >= top * (1.0 - 1e-9)
