"""One result for each group of rows: those of fits of the groups, and pandas' groupby."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_array
from sklearn.exceptions import ConvergenceWarning

from cases import cases
from inlier import robust_mean

LABELS = np.random.default_rng(1).permutation(np.repeat(["c", "a", "b"], [50, 80, 70]))


def rows():
    X = np.random.default_rng(0).standard_normal((200, 3)) + 3.0 * (LABELS == "a")[:, None]
    X[7], X[20, 1] = 1e4, 1e6
    return X


def test_each_group_is_fitted_on_its_own():
    X, weights = rows(), np.random.default_rng(2).uniform(1.0, 2.0, 200)
    checked = np.arange(200) % 4 == 1
    options = {"contamination": 0.1, "random_state": 3}
    grouped = robust_mean(X, groups=LABELS, sample_weight=weights, trusted=checked, **options)
    assert [*grouped] == ["a", "b", "c"] and len(grouped) == 3
    for i, (label, result) in enumerate(grouped.items()):
        own = label == LABELS
        alone = robust_mean(X[own], sample_weight=weights[own], trusted=checked[own], **options)
        np.testing.assert_array_equal(result.support, alone.support)
        np.testing.assert_array_equal(grouped.support[own], alone.support)
        np.testing.assert_array_equal(grouped.location[i], alone.location)
        np.testing.assert_array_equal(grouped.standard_error[i], alone.standard_error)
    np.testing.assert_array_equal(grouped.outliers, np.flatnonzero(~grouped.support))
    assert 7 in grouped.outliers


def test_the_table():
    lines = str(robust_mean(rows(), groups=LABELS)).splitlines()
    assert lines[0].split() == ["group", "rows", "removed", "cells", "set", "aside"]
    counted = [line.split() for line in lines[1:]]
    assert [line[:2] for line in counted] == [["a", "80"], ["b", "70"], ["c", "50"]]
    assert sum(int(line[2]) for line in counted) == 1
    assert sum(int(line[3]) for line in counted) == 1


def test_of_a_frame_as_pandas_has_it():
    index = [f"p{i}" for i in range(200)]
    frame = pd.DataFrame(rows(), index=index, columns=["x", "y", "z"])
    grouped = robust_mean(frame, groups=pd.Series(LABELS, index=index))
    assert grouped.outliers.tolist() == ["p7"]
    clean = frame.drop("p7").mask(frame > 1e5)
    expected = clean.groupby(LABELS[np.arange(200) != 7]).mean()
    pd.testing.assert_frame_equal(grouped.location, expected)
    assert grouped[LABELS[7]].explain("p7").removed


@cases("kind", ["list", "polars", "sparse", "file"])
def test_kinds_of_data(kind, tmp_path):
    X = rows()
    np.save(tmp_path / "X.npy", X)
    given = {
        "list": X.tolist(),
        "polars": pl.DataFrame(X, schema=["x", "y", "group"]),
        "sparse": csr_array(X),
        "file": tmp_path / "X.npy",
    }[kind]
    grouped = robust_mean(given, groups=list(LABELS), sigma=1.5)
    found = grouped.location
    if kind == "polars":
        assert found.columns[0] == "group_" and found["group_"].to_list() == ["a", "b", "c"]
        found = found.to_numpy()[:, 1:].astype(float)
    expected = robust_mean(X, groups=LABELS, sigma=1.5).location
    np.testing.assert_allclose(found, expected)


@cases(
    ("groups", "message"),
    [
        (["a"] * 5, "a label for each of the 200 rows of X, but has shape"),
        (["a"] * 199 + [None], "no label for row 199"),
        (np.r_[np.zeros(199), np.nan], "no label for row 199"),
        (range(200), "no group of more than one row"),
        (["a"] * 199 + [np.nan], "no label for row 199"),
        (pd.Series(["a"] * 199 + [pd.NA], dtype="string"), "no label for row 199"),
        ([1, "1"] * 100, "labels of different types"),
        ("kind", "but is 'kind'"),
        (3, "but is 3"),
    ],
)
def test_wrong_groups(groups, message):
    with pytest.raises(ValueError, match=f"^groups .*{message}"):
        robust_mean(rows(), groups=groups)


def test_errors_and_warnings_name_the_group():
    X = rows()
    X[LABELS == "b", 1] = np.nan
    with pytest.raises(ValueError, match=r"^In the group 'b' of groups: X has no value"):
        robust_mean(X, groups=LABELS)
    with pytest.warns(ConvergenceWarning, match=r"^In the group '[abc]': "):
        robust_mean(rows(), groups=LABELS, sigma=0.1)
    labels = LABELS.astype(object)
    labels[0] = "alone"
    with pytest.warns(UserWarning, match="only one row were kept without a test: 'alone'"):
        grouped = robust_mean(rows(), groups=labels)
    assert "alone" not in grouped and grouped.support[0]
    with pytest.raises(ValueError, match="trusted must be indices or a mask"):
        robust_mean(rows(), groups=LABELS, trusted=rows()[:20])
    for wrong in ([0, 500], np.ones(7, dtype=bool), []):
        with pytest.raises(ValueError, match=r"^trusted (must be|has) the ind"):
            robust_mean(rows(), groups=LABELS, trusted=wrong)


def test_series_in_another_order_are_refused():
    frame = pd.DataFrame(rows())
    shuffled = pd.Series(LABELS).sample(frac=1.0, random_state=0)
    with pytest.raises(ValueError, match=r"^groups has another index than X"):
        robust_mean(frame, groups=shuffled)
    with pytest.raises(ValueError, match=r"^trusted has another index than X"):
        robust_mean(frame, groups=LABELS, trusted=shuffled == "a")
    expected = robust_mean(frame, groups=LABELS).location
    pd.testing.assert_frame_equal(
        robust_mean(frame, groups=shuffled.loc[frame.index]).location, expected
    )


def test_the_page_has_a_section_for_each_group(tmp_path):
    pytest.importorskip("jinja2")
    page = robust_mean(rows(), groups=LABELS).to_html(tmp_path / "page.html", title="sites")
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == page
    assert "3 groups, 200 rows" in page and "<title>sites" in page
    assert all(f'href="#s{i}"' in page for i in range(3))
