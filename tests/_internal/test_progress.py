"""How far a computation is: told in order, by every kind of table, and shown on a terminal."""

import io
import sys

import numpy as np
import pytest

import inlier
from inlier import open_table, robust_mean
from inlier._internal import progress


@pytest.mark.parametrize("kind", ["array", "file"])
def test_the_part_of_each_pass_is_told(kind, tmp_path):
    X = np.random.default_rng(0).standard_normal((300_000, 4))
    np.save(tmp_path / "X.npy", X)
    data = X if kind == "array" else open_table(tmp_path / "X.npy", memory=1 << 22)
    seen = []
    with progress.watching(lambda n_passes, part: seen.append((n_passes, part))):
        result = robust_mean(data, sigma=2.0)
    passes = [n for n, _ in seen]
    assert all(0.0 <= part < 1.0 for _, part in seen)
    assert max(part for _, part in seen) > 0.5
    assert passes == sorted(passes) and 1 < passes[-1] <= result.details.n_passes
    for n in set(passes):  # each pass begins at 0
        parts = [part for own, part in seen if own == n]
        assert parts[0] == 0.0
    before = len(seen)
    robust_mean(X[:100])
    assert len(seen) == before  # nobody is watching any more


@pytest.mark.parametrize("groups", [None, np.arange(600) % 3])
def test_a_bar_with_a_fraction_on_a_terminal(groups, monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setattr(sys, "stderr", shown := io.StringIO())
    X = np.random.default_rng(0).standard_normal((600, 3))
    found = robust_mean(X, groups=groups, progress=True).location
    assert "%" in shown.getvalue()
    assert ("over the data" if groups is None else "group ") in shown.getvalue()
    np.testing.assert_array_equal(found, inlier.robust_mean(X, groups=groups).location)
