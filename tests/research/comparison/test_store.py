"""Stores: what was measured is not measured again, and foreign files are left alone."""

import os
import sqlite3
import subprocess

import pytest

from contestants import MODEL, SEVERAL, Fail, Hang, Mean, without_seconds
from inlier.research import compare
from inlier.research.comparison.run import carry_out, plan


def test_store_refits_nothing(tmp_path):
    log, store = tmp_path / "log", tmp_path / "fits.db"
    methods = {"counted": Mean(log=str(log)), "fail": Fail(), "told": "norm-trimmed-mean"}
    first = compare(MODEL, methods, trials=2, timeout=None, store=store)
    assert log.read_text() == "xx"
    again = compare(MODEL, methods, trials=2, timeout=None, store=store)
    assert log.read_text() == "xx"
    assert without_seconds(again) == without_seconds(first)
    # What failed is tried again; the rest comes from the store.
    assert [r.seconds for r in again.of("told")] == [r.seconds for r in first.of("told")]
    assert [r.seconds for r in again.of("fail")] != [r.seconds for r in first.of("fail")]
    more = compare(MODEL, methods, trials=3, timeout=None, store=store)
    assert log.read_text() == "xxx"
    assert without_seconds(more)[:6] == without_seconds(first)
    # What is told belongs to the fit, as do the parameters and the data.
    compare(MODEL, methods, trials=2, timeout=None, store=store, alpha=0.3)
    assert log.read_text() == "xxx"
    with sqlite3.connect(store) as file:
        count = file.execute("SELECT method, COUNT(*) FROM fits GROUP BY method").fetchall()
    file.close()
    assert dict(count) == {"counted": 3, "fail": 3, "told": 5}
    other = {"counted": Mean(log=str(log), shift=1.0)}
    compare(MODEL, other, trials=1, timeout=None, store=store)
    compare(MODEL.sample(0), other, timeout=None, store=store)
    compare(MODEL.sample(1), other, timeout=None, store=store)
    compare(MODEL.sample(1).X, other, timeout=None, store=store)
    compare(MODEL.sample(1).X, other, timeout=None, store=store, trials=2)
    assert log.read_text() == "x" * 8


def test_timeouts_are_tried_again_with_more_time(tmp_path):
    store = tmp_path / "fits.db"
    methods = {"hang": Hang()}
    first = compare(MODEL, methods, trials=1, timeout=0.3, store=store)
    again = compare(MODEL, methods, trials=1, timeout=0.2, store=store)
    assert again.records[0].seconds == 0.3
    assert without_seconds(again) == without_seconds(first)
    longer = compare(MODEL, methods, trials=1, timeout=0.4, store=store)
    assert longer.records[0].seconds == 0.4


def test_interruption_leaves_a_store_to_go_on_with(tmp_path):
    log, store = tmp_path / "log", tmp_path / "fits.db"
    methods = [Mean(log=str(log), stop_at=3)]
    with pytest.raises(KeyboardInterrupt):
        compare(MODEL, methods, trials=4, timeout=None, store=store)
    compare(MODEL, methods, trials=4, timeout=None, store=store)
    assert log.read_text() == "x" * (2 + 1 + 2)


def test_foreign_files_are_left_alone(tmp_path):
    text = tmp_path / "notes.txt"
    text.write_text("not a store")
    database = tmp_path / "other.db"
    with sqlite3.connect(database) as file:
        file.execute("CREATE TABLE fits (key TEXT)")
    file.close()
    for path in (text, database):
        before = path.read_bytes()
        with pytest.raises(ValueError, match=r"is not a store of inlier\.research\.compare"):
            compare(MODEL, "mean", trials=1, timeout=None, store=path)
        assert path.read_bytes() == before
    with pytest.raises(ValueError, match="is a folder"):
        compare(MODEL, "mean", trials=1, timeout=None, store=tmp_path)
    with pytest.raises(ValueError, match="there is no folder"):
        compare(MODEL, "mean", trials=1, timeout=None, store=tmp_path / "no" / "fits.db")


# -- methods and files that misbehave -------------------------------------------------------------


def test_damaged_stores(tmp_path):
    whole, cut = tmp_path / "whole.db", tmp_path / "cut.db"
    compare(MODEL, ["mean"], trials=2, timeout=None, store=whole)
    cut.write_bytes(whole.read_bytes()[:5000])
    for store in (cut, 5, b"bytes.db"):
        with pytest.raises(ValueError, match="store"):
            compare(MODEL, ["mean"], trials=2, timeout=None, store=store)
    assert cut.stat().st_size == 5000


def test_links_are_followed_and_other_files_written_to(tmp_path):
    comparison = compare(MODEL, ["mean"], trials=1, timeout=None)
    target, link, pipe = tmp_path / "target.csv", tmp_path / "link.csv", tmp_path / "pipe"
    target.write_text("old")
    link.symlink_to(target)
    comparison.to_csv(link)
    assert link.is_symlink() and target.read_text().startswith("data,method")
    os.mkfifo(pipe)
    with subprocess.Popen(["cat", str(pipe)], stdout=subprocess.PIPE) as reader:
        comparison.to_csv(pipe)
        assert reader.communicate()[0].startswith(b"data,method")
    for path in (tmp_path, tmp_path / "no" / "x.csv"):
        with pytest.raises(ValueError, match="folder"):
            comparison.to_csv(path)


# -- Many comparisons with the same workers -------------------------------------------------------


def test_several_plans_share_a_store(one_by_one, tmp_path):
    chosen = [i for i in range(len(SEVERAL)) if i != 4]  # what failed would be tried again
    plans = [plan(SEVERAL[i][0], SEVERAL[i][1], **SEVERAL[i][2]) for i in chosen]
    total = sum(len(p.seeds) * len(p.methods) for p in plans)
    for begin in (0, total):
        told = []
        found = carry_out(
            plans,
            timeout=None,
            store=tmp_path / "fits.db",
            watch=lambda done, *_, told=told: told.append(done),
        )
        assert (told[0], told[-1]) == (begin, total)
        for i, comparison in zip(chosen, found, strict=True):
            assert without_seconds(comparison) == without_seconds(one_by_one[i])
    # `compare` finds there what a plan has left.
    again = compare(*SEVERAL[0][:2], **SEVERAL[0][2], timeout=None, store=tmp_path / "fits.db")
    assert [r.seconds for r in again.records] == [r.seconds for r in found[-1].records]
