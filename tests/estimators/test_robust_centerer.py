"""The transformer: agreement with `robust_mean`, and names of columns."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from documented import documents_everything
from inlier import RobustCenterer

RNG = np.random.default_rng(0)
X = RNG.standard_normal((200, 3)) * np.array([1.0, 10.0, 0.1]) + np.array([5.0, 0.0, -2.0])
X[:20] += 500.0
NAMES = ["a", "b", "c"]


def test_good_rows_are_centered_as_if_alone():
    good = X[20:]
    for scaling in (False, True):
        model = RobustCenterer(with_scaling=scaling).fit(X)
        np.testing.assert_array_equal(model.support_, np.arange(200) >= 20)
        alone = StandardScaler(with_std=scaling).fit(good)
        np.testing.assert_allclose(model.transform(X), alone.transform(X), atol=1e-10)
        np.testing.assert_allclose(model.location_, alone.mean_)
        if scaling:
            np.testing.assert_allclose(model.scale_, alone.scale_)
    assert RobustCenterer().fit(X).scale_ is None
    documents_everything(model)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_there_and_back(dtype):
    rows = X.astype(dtype)
    model = RobustCenterer(with_scaling=True).fit(rows)
    back = model.inverse_transform(model.transform(rows))
    assert back.dtype == model.transform(rows).dtype == model.scale_.dtype == dtype
    np.testing.assert_allclose(back, rows, rtol=1e-5, atol=1e-5)


def test_missing_cells_stay_missing():
    holes = X.copy()
    holes[RNG.random(X.shape) < 0.05] = np.nan
    model = RobustCenterer(with_scaling=True).fit(holes)
    np.testing.assert_array_equal(np.isnan(model.transform(holes)), np.isnan(holes))
    good = holes[model.support_]
    np.testing.assert_allclose(model.location_, np.nanmean(good, axis=0))
    np.testing.assert_allclose(model.scale_, np.nanstd(good, axis=0))


@pytest.mark.parametrize(
    ("library", "frame"),
    [
        ("pandas", pd.DataFrame(X, columns=NAMES, index=[f"r{i}" for i in range(200)])),
        ("polars", pl.DataFrame(X, schema=NAMES)),
    ],
)
def test_data_frames_come_back_with_their_names(library, frame):
    model = RobustCenterer().set_output(transform=library)
    out = model.fit_transform(frame)
    assert type(out) is type(frame) and list(out.columns) == NAMES
    np.testing.assert_allclose(out.to_numpy(), X - model.location_)
    assert model.get_feature_names_out().tolist() == NAMES
    if library == "pandas":
        assert out.index.equals(frame.index)
    pipeline = make_pipeline(RobustCenterer(with_scaling=True), StandardScaler())
    assert list(pipeline.set_output(transform=library).fit_transform(frame).columns) == NAMES
