"""Files are replaced as a whole or not at all."""

import os
import stat

import pytest

from inlier._internal.atomic import check_place, replacing


def test_a_file_takes_its_place_when_all_went_well(tmp_path):
    path = tmp_path / "out.txt"
    path.write_text("old")
    path.chmod(0o640)
    with replacing(path) as unfinished:
        unfinished.write_text("new")
        assert unfinished.suffix == ".txt" and path.read_text() == "old"
    assert path.read_text() == "new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert list(tmp_path.iterdir()) == [path]


def test_after_an_error_the_old_file_is_there_and_nothing_else(tmp_path):
    path = tmp_path / "out.txt"
    path.write_text("old")
    with pytest.raises(KeyboardInterrupt), replacing(path) as unfinished:
        unfinished.write_text("half")
        raise KeyboardInterrupt
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_is_followed(tmp_path):
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_text("old")
    link.symlink_to(target)
    with replacing(link) as unfinished:
        unfinished.write_text("new")
    assert link.is_symlink() and target.read_text() == "new"


def test_what_is_no_place_is_named(tmp_path):
    circle = tmp_path / "circle"
    circle.symlink_to(circle)
    for path, said in (
        (circle, "leads to itself"),
        (tmp_path, "is a folder"),
        (tmp_path / "none" / "out", "there is no folder"),
    ):
        with pytest.raises(ValueError, match=rf"^where=.*{said}"):
            check_place(path, "where")


def test_a_pipe_is_written_to_as_it_is(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with replacing(pipe) as place:
        assert place == pipe
    assert stat.S_ISFIFO(pipe.stat().st_mode)
