"""Seconds and passes are those of the experiment itself."""

from inlier.research.datasets import SettingB
from inlier.research.reproduce import chapter
from inlier.research.reproduce.chapter import Setup
from studies import Watched


def test_seconds_are_not_those_of_another_experiment(tmp_path, monkeypatch):
    # One fit at a time is timed: none may be taken from a stage that ran several.
    monkeypatch.setattr(chapter, "TIMEOUT", None)
    watched = Watched()
    setup = Setup(1, True, 1, tmp_path / "fits.sqlite", watched)
    for stage, timed in (("several", False), ("one", True), ("again", True)):
        setup.compare(stage, [SettingB(30, 4, 0.2)], ("mean",), trials=1, timed=timed)
    assert watched.first == {"several": 0, "one": 0, "again": 1}
