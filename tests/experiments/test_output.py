"""The page, and files that are written whole or not at all."""

import pytest

from inlier.experiments import EXPERIMENTS, output, reproduce
from inlier.experiments.chapter import Chapter, Drawing


def test_results_without_fits_can_be_read(tmp_path):
    pandas = pytest.importorskip("pandas")
    path = output._write_lines(tmp_path / "results.csv", [])
    assert len(pandas.read_csv(path)) == 0


def test_the_command_is_escaped_in_html():
    assert "<faces>" not in output._html([], "Made by `inlier reproduce --faces <faces>`")


class Half:
    """A figure that cannot be written to its end."""

    def savefig(self, path, **options):
        path.write_text("half")
        raise OSError("no space left")


def test_nothing_is_left_half_written(tmp_path, monkeypatch):
    (tmp_path / "broken.png").write_text("from before")
    broken = Chapter("t", "t", drawings=[Drawing("broken", "c", Half())])
    monkeypatch.setitem(EXPERIMENTS, "figures", lambda setup: broken)
    with pytest.raises(OSError, match="no space left"):
        reproduce(tmp_path, only=["figures"])
    assert [path.name for path in tmp_path.iterdir()] == ["broken.png"]
    assert (tmp_path / "broken.png").read_text() == "from before"
