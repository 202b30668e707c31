"""The experiment on faces."""

import numpy as np
import pytest

from inlier.research.datasets import printed_tables
from inlier.research.reproduce.chapter import Chapter
from inlier.research.reproduce.reproduction import EXPERIMENTS, reproduce

# -- One experiment -------------------------------------------------------------------------------


def test_faces_of_the_user(tmp_path, small_data):
    rng = np.random.default_rng(0)
    path = tmp_path / "my_<faces>.npz"
    X = rng.random((30, 12)) + 5.0 * (np.arange(30) < 5)[:, None]
    np.savez(path, X=X, y=np.arange(30) < 5, shape=(4, 3))
    reproduce(tmp_path / "out", quick=True, only=["faces"], faces=path, n_jobs=1)
    page = (tmp_path / "out" / "README.md").read_text()
    assert "The faces are those of my_<faces>." in page
    assert "my_<faces>: 30 pictures of 4 x 3, 5 of them bad" in page
    assert "<caption>my_&lt;faces&gt;: 30" in (tmp_path / "out" / "tables.html").read_text()
    assert r"\caption{my\_<faces>: 30" in (tmp_path / "out" / "tables.tex").read_text()
    (printed,) = printed_tables()["table5"].errors.values()
    for name, error in printed.items():
        assert f"{name.replace('_', ' ')} {error:g}" in page


# -- Wrong arguments ------------------------------------------------------------------------------


def test_faces_that_are_not_there_are_told_at_once(tmp_path, monkeypatch):
    begun = []
    monkeypatch.setitem(EXPERIMENTS, "tables", lambda setup: begun.append(1) or Chapter("t", "t"))
    with pytest.raises(ValueError, match="no file or folder"):
        reproduce(tmp_path, only=["tables", "faces"], faces="nowhere")
    assert not begun
