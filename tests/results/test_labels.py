"""Answers about a data frame: by its columns and the labels of its rows, as pandas has them."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest

from cases import cases
from inlier import RobustMean, robust_mean


def rows():
    X = np.random.default_rng(0).standard_normal((60, 3)) + np.array([0.0, 10.0, 100.0])
    X[7], X[20, 1] = 1e4, 1e6
    return X


COLUMNS = ["a", "b", "c"]


@cases("index", [[f"p{i}" for i in range(60)], list(range(100, 160)), pd.RangeIndex(5, 65)])
def test_a_frame_of_pandas_gets_series_back(index):
    X = rows()
    frame, plain = pd.DataFrame(X, index=index, columns=COLUMNS), robust_mean(X)
    result = robust_mean(frame)
    back = pickle.loads(pickle.dumps(result)).with_data(frame)
    assert isinstance(result.with_data(X).location, np.ndarray)
    for one in (result, back, result.keep(0)):
        assert isinstance(one.location, pd.Series) and one.location.index.tolist() == COLUMNS
    for found, expected in [
        (result.location, plain.location),
        (result.standard_error, plain.standard_error),
        (result.deviation, plain.deviation),
        (result.guarantee(), plain.guarantee()),
    ]:
        pd.testing.assert_series_equal(found, pd.Series(expected, index=COLUMNS))
    for found, expected in zip(
        result.confidence_interval(), plain.confidence_interval(), strict=True
    ):
        pd.testing.assert_series_equal(found, pd.Series(expected, index=COLUMNS))
    assert result.outliers.tolist() == frame.index[plain.outliers].tolist()
    assert result.ranking.tolist() == frame.index[plain.ranking].tolist()
    assert len(frame.drop(result.outliers)) == result.support.sum() == 59
    label = frame.index[7]
    why = result.explain(result.outliers[0])
    assert why.row == 7 and why.score == plain.explain(7).score
    assert str(why).startswith(f"Row {label}: score ")
    with pytest.raises(ValueError, match=r"row must be one of the labels of X\.index"):
        result.explain("no such row")
    cell = next(cell for cell in result.cells if cell.set_aside)
    name = frame.index[20] if isinstance(label, str) else f"row {frame.index[20]}"
    assert str(cell).startswith(f"{name}: b = 1e+06")


def test_a_label_of_several_rows_is_refused():
    frame = pd.DataFrame(rows(), index=["same"] * 30 + [f"p{i}" for i in range(30)])
    result = robust_mean(frame)
    assert result.outliers.tolist() == ["same"]
    assert result.explain("p3").row == 33
    with pytest.raises(ValueError, match="row='same' is the label of 30 rows"):
        result.explain("same")


def test_numbers_are_numbers_where_nothing_has_another_name():
    result = robust_mean(pd.DataFrame(rows()))
    assert isinstance(result.outliers, np.ndarray) and result.outliers.tolist() == [7]
    assert result.explain(-53).row == 7
    assert result.location.index.tolist() == [0, 1, 2]


def test_a_frame_of_polars_gets_frames_of_few_rows_back():
    X = rows()
    result, plain = robust_mean(pl.DataFrame(X, schema=COLUMNS)), robust_mean(X)
    for found, expected in [
        (result.location, plain.location[None]),
        (result.standard_error, plain.standard_error[None]),
        (result.confidence_interval()[1], plain.confidence_interval()[1:]),
    ]:
        assert isinstance(found, pl.DataFrame) and found.columns == COLUMNS
        np.testing.assert_array_equal(found.to_numpy(), expected)
    assert result.outliers.tolist() == [7] and result.explain(7).row == 7
    assert result.keep(0).location.columns == COLUMNS
    assert "3 columns" in result._repr_html_()


def test_attributes_of_an_estimator_are_arrays_as_in_scikit_learn():
    frame = pd.DataFrame(rows(), index=[f"p{i}" for i in range(60)], columns=COLUMNS)
    model = RobustMean().fit(frame)
    assert type(model.location_) is np.ndarray and type(model.support_) is np.ndarray
    assert model.result_.outliers.tolist() == ["p7"]
    pd.testing.assert_series_equal(model.result_.location, robust_mean(frame).location)
    assert str(model.result_.cells[-1]).startswith("p20: b = 1e+06")


@cases(
    "as_given",
    [list, tuple, np.asarray, pd.Series, lambda x: pl.Series("x", x), np.ma.masked_invalid],
)
def test_one_dimension_is_one_column(as_given):
    x = np.random.default_rng(0).standard_normal(50)
    x[3] = 1e5
    expected = robust_mean(x[:, None])
    result = robust_mean(as_given(x))
    np.testing.assert_array_equal(np.ravel(result.location), expected.location)
    np.testing.assert_array_equal(result.support, expected.support)
    assert result.with_data(as_given(x)).explain(3).score == expected.explain(3).score
    assert result.certificate.verify(as_given(x)).holds


def test_a_series_has_its_name():
    x = pd.Series(np.arange(30.0), name="age")
    assert robust_mean(x).location.index.tolist() == ["age"]


@cases("X", [np.zeros((2, 2, 2)), np.float64(3.0), None, [[1.0, 2.0], [3.0]], [], ["a", "b"]])
def test_other_shapes_are_refused(X):
    with pytest.raises(ValueError, match="X "):
        robust_mean(X)
