"""The kernels of the GPU against double precision; and that nothing needs them."""

import sys

import numpy as np
import pytest

from inlier.data import Fences, ManyCells, TailLength, as_table
from inlier.data.passes import fused_kernels

torch = pytest.importorskip("torch")
on_cuda = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs an NVIDIA GPU")


def rows(n: int, d: int, shift: float) -> np.ndarray:
    rng = np.random.default_rng(n + d)
    return (rng.standard_normal((n, d)) * 5.0 / np.sqrt(1.0 + np.arange(d)) + shift).astype("f4")


def test_nothing_needs_triton(monkeypatch):
    monkeypatch.setitem(sys.modules, "inlier.data.fused", None)
    fused_kernels.cache_clear()
    assert fused_kernels() is None
    fused_kernels.cache_clear()


@on_cuda
@pytest.mark.parametrize("shift", [0.0, 5.0, 1e4])
@pytest.mark.parametrize(
    ("n", "d", "k"), [(600, 1, 1), (1000, 37, 3), (5000, 1030, 16), (3000, 70, 40)]
)
def test_passes_agree_with_double_precision(n, d, k, shift, monkeypatch):
    monkeypatch.setattr(fused_kernels(), "FEWEST_ROWS", 1)
    X = rows(n, d, shift)
    rng = np.random.default_rng(0)
    center = X.astype("f8").mean(axis=0) + 1e-9
    basis, weights = rng.standard_normal((k, d)), rng.random(n)
    table = as_table(torch.tensor(X, device="cuda"))
    assert table._view(center).fused
    A = X.astype("f8") - center
    P = basis @ A.T

    def close(found, expected, unit):
        assert np.abs(np.asarray(found, dtype="f8") - expected).max() <= 1e-5 * unit

    on_device = torch.tensor(weights, device="cuda")
    close(table.project(center, basis).cpu(), P, np.abs(P).max())
    moment = table.moment(center, on_device, basis)
    close(moment.projection.cpu(), P, np.abs(P).max())
    close(moment.image, (P * weights) @ A, (np.abs(P * weights) @ np.abs(A)).max())
    close(moment.drift, weights @ A, (weights @ np.abs(A)).max())
    close(table.combine(center, on_device[None]), weights @ A, (weights @ np.abs(A)).max())
    squares = (A * A).sum(axis=1)
    close(table.sq_distances(center).cpu(), squares, squares.max())


@on_cuda
def test_rows_at_the_center_have_no_length():
    X = np.tile(np.linspace(1e5, 2e5, 300, dtype="f4"), (5000, 1))
    table = as_table(torch.tensor(X, device="cuda"))
    assert float(table.sq_distances(X[0].astype("f8")).max()) == 0.0


@on_cuda
@pytest.mark.parametrize("shift", [0.0, 5.0, 1e3])
def test_sizes_agree_with_double_precision(shift):
    X = rows(5000, 137, shift)
    X[7, 3], X[8, 5] = 1e8, -1e12
    double = X.astype("f8")
    center = np.median(double, axis=0)
    X[9], double[9] = center, center.astype("f4")
    unit = np.median(np.abs(double - center), axis=0) * np.array([[1.0], [1.5]])
    unit[:, 11] = np.inf
    power = np.linspace(0.3, 1.0, 2 * 137).reshape(2, 137)
    fences = 4.0 * unit
    table = as_table(torch.tensor(X, device="cuda"))
    for measure in (
        TailLength(center, unit, power),
        TailLength(center, unit, power, np.eye(137)),
        Fences(center, unit[0], *fences),
        ManyCells(center, unit[0], *fences, least=3.0),
    ):
        found = table.measured(measure).cpu().numpy()
        np.testing.assert_allclose(found, measure(double), rtol=1e-4, atol=1e-4)


@on_cuda
def test_a_shift_changes_nothing():
    from inlier import robust_mean
    from inlier.research.datasets import SettingA

    sample = SettingA(n=5000, d=300, alpha=0.2).sample(random_state=0)
    near = torch.tensor(sample.X, dtype=torch.float32, device="cuda")
    for options in ({}, {"sigma": 1.4}):
        found = robust_mean(near, **options), robust_mean(near + 5.0, **options)
        for result in found:
            np.testing.assert_array_equal(result.support.cpu().numpy(), ~sample.is_outlier)
