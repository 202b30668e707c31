"""The benchmarks with nothing given, on tiny cases; what they print against numpy."""

import csv
import importlib.util
import os
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import linalg, special, stats
from sklearn import metrics

import inlier

FOLDER = Path(__file__).parents[1] / "benchmarks"
RULES = """
import numpy as np

def everything(X):
    return np.ones(len(X), dtype=bool)

def not_the_first(X):
    return np.arange(len(X)) > 0

def below_ten(X):
    return (abs(X) < 10).all(axis=1)
"""


@pytest.fixture
def load(monkeypatch):
    """Load a script under another name: `tables` is also that of a package of others."""
    monkeypatch.syspath_prepend(FOLDER)
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        monkeypatch.setenv(variable, os.environ.get(variable, "1"))

    def module_of(script):
        name = f"benchmarks_{script}"
        spec = importlib.util.spec_from_file_location(name, FOLDER / f"{script}.py")
        module = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, name, module)
        spec.loader.exec_module(module)
        return module

    return module_of


@pytest.fixture
def bench(load, monkeypatch, tmp_path, capsys):
    """Run a script in an empty folder that has a module of rules; returns what it printed."""
    (tmp_path / "rules.py").write_text(RULES)
    monkeypatch.chdir(tmp_path)

    def run(script, *options):
        module = load(script)
        monkeypatch.setattr(module, "WRITTEN", tmp_path / "page.md")
        module.main([str(option) for option in options])
        return capsys.readouterr().out

    yield run
    sys.modules.pop("rules", None)


def cells(text, first):
    """The cells of the first line of a printed table that begins so."""
    line = next(line for line in text.splitlines() if line.startswith(f"| {first} |"))
    return [cell.strip() for cell in line.strip("|").split("|")]


def records(path):
    """The lines of a CSV file."""
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def real_set(folder, name, seed):
    """Write a table with five far rows; returns it and which they are."""
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((60, 3)), np.zeros(60, dtype=int)
    X[50:] += 2.0
    X[:5] += 40.0
    y[:5] = 1
    np.savez(folder / f"{name}.npz", X=X, y=y)
    return X, y == 1


def test_real_sets_are_scored_as_numpy_does(bench, tmp_path):
    for seed, name in enumerate(("first", "second")):
        real_set(tmp_path, name, seed)
    text = bench("real", "--data", tmp_path, "--rule", "rules:below_ten")
    assert cells(text, "worse than 1.05 times the mean")[1] == "0 of 2"
    assert cells(text, "error over the mean's, geometric mean (none below .01)")[1] == "0.010"
    assert cells(text, "clean version loses a row")[1] == "0 of 2"
    assert cells(text, "the order of rows changes the answer")[1] == "0 of 2"
    assert cells(text, "the units of columns change the answer")[1] == "2 of 2"
    assert cells(text, "first")[6] == "0 / 0"


def test_a_rule_that_does_harm_is_named(bench, tmp_path):
    real_set(tmp_path, "first", 0)
    text = bench("real", "--data", tmp_path, "--rule", "rules:not_the_first")
    assert cells(text, "the order of rows changes the answer")[1:] == ["1 of 1", "first"]
    assert cells(text, "clean version loses more than 1%")[1:] == ["1 of 1", "first"]


def test_real_sets_with_nothing_given(bench, tmp_path):
    X, bad = real_set(tmp_path, "first", 0)
    bench("real", "--data", tmp_path)
    (line,) = records(tmp_path / "out" / "real.csv")
    error = np.linalg.norm(X.mean(axis=0) - X[~bad].mean(axis=0))
    assert float(line["mean_error"]) == pytest.approx(error)
    assert (line["n"], line["d"], line["bad"]) == ("60", "3", "5")
    assert line["reordered"] == "False"


def test_rankings_are_judged_as_scikit_learn_does(bench, tmp_path):
    rng = np.random.default_rng(0)
    for name in ("first", "second", "second_z"):
        X, y = rng.standard_normal((80, 3)) * [1.0, 10.0, 0.1], np.arange(80) < 20
        X[:20] *= 2.0
        np.savez(tmp_path / f"{name}.npz", X=X, y=y)
    options = ("ranking", "--data", tmp_path, "--methods", "robust z")
    text = bench(*options, "--write")
    far = np.linalg.norm((X - np.median(X, axis=0)) / stats.median_abs_deviation(X), axis=1)
    expected = metrics.roc_auc_score(y, far), metrics.average_precision_score(y, far)
    before = records(tmp_path / "out" / "ranking.csv")
    assert [line["method"] for line in before] == 3 * ["robust z"]
    assert (float(before[2]["auc"]), float(before[2]["precision"])) == pytest.approx(expected)
    means = [np.mean([float(line["auc"]) for line in part]) for part in (before, before[1:])]
    assert cells(text, "robust z")[1] == f"{means[0]:.3f}"
    # A table and its version in other units are in one half.
    assert cells(text, "robust z")[3] == f"{means[1]:.3f}"
    ours = metrics.roc_auc_score(y, inlier.robust_mean(X).outlyingness)
    assert cells(text, "second_z")[3].strip("*") == f"{ours:.3f}"
    assert cells(text, "**inlier**")[1:7] == cells(text, "as it is")[1:7]
    page = (tmp_path / "page.md").read_text()
    assert page.endswith(text) and "make bench-ranking" in page
    # What others say is kept, what we say is not.
    (tmp_path / "out" / "ranking.csv").write_text(
        "name,method,auc,precision,seconds\n" + "first,robust z,0.125,0.25,0\n"
    )
    again = bench(*options, "--only", "first")
    assert cells(again, "robust z")[1] == "0.125"
    with pytest.raises(SystemExit, match="no method 'best'"):
        bench(*options[:3], "--methods", "best")


@pytest.mark.parametrize(
    "options",
    [
        ("real", "--data", "."),
        ("clean", "--draws", 1, "--most-rows", 20, "--only", "t3,small"),
        ("tables", "--draws", 1, "--only", "s_money300", "--kinds", "u1", "--methods", "Tukey 3"),
    ],
    ids=lambda options: options[0],
)
def test_a_page_holds_what_is_printed(bench, tmp_path, options):
    real_set(tmp_path, "first", 0)
    text = bench(*options, "--write", "--rule", "rules:below_ten")
    page = (tmp_path / "page.md").read_text()
    assert page.startswith("# ")
    assert page.endswith(text)
    assert f"make bench-{options[0]}" in page


@pytest.fixture
def suspicious(monkeypatch):
    """A `robust_mean` that can be told what to assume, and suspects rows beyond ten."""

    def robust_mean(X, *, assume="auto", scatter="auto"):
        suspects = np.flatnonzero((abs(X) > 10).any(axis=1))
        return SimpleNamespace(
            location=X.mean(axis=0),
            support=np.ones(len(X), dtype=bool),
            suspects=[SimpleNamespace(rows=suspects)] if len(suspects) else [],
        )

    monkeypatch.setattr(inlier, "robust_mean", robust_mean)


def test_suspects_are_counted(suspicious, bench, tmp_path):
    real_set(tmp_path, "first", 0)
    text = bench("real", "--data", tmp_path)
    assert cells(text, "suspects shown, and of these mostly bad rows")[1] == "1, 1"
    assert cells(text, "clean version shows a suspect")[1] == "0 of 1"
    assert cells(text, "first")[-1] == "1 (1), 0"


def test_what_is_assumed_is_compared_if_it_can_be_said(suspicious, bench, load, monkeypatch):
    assert {"inlier, symmetric", "inlier, nothing"} < load("tables").all_methods().keys()
    clean = load("clean")
    monkeypatch.setattr(clean, "TIMED", ((20, 2),))
    assert 'assume="symmetric", s | times' in clean.table_of_cost(clean.robust_mean, repeats=1)


def test_clean_tables_are_counted(bench):
    options = ("--draws", 2, "--most-rows", 20, "--only", "lognormal,one-hot,3 classes")
    text = bench("clean", *options, "--rule", "rules:not_the_first")
    assert cells(text, "lognormal")[1:3] == ["8", "**100.0%**"]
    assert cells(text, "one-hot")[1] == "6"  # one code alone is left out
    assert cells(text, "all")[-3] == "5.0%"
    # The fences of Tukey, of the same draws.
    assert cells(text, "one-hot")[-1] == "0"
    text = bench("clean", *options)
    assert cells(text, "lognormal")[1] == "8"


def test_small_tables_are_counted(bench):
    text = bench("clean", "--draws", 2, "--only", "small", "--rule", "rules:below_ten")
    first = cells(text, "20 x 3, one row + 100 standard deviations")
    assert first[1:] == ["100.0%", "100.0%", "100.0%", "0"]
    assert cells(text, "40 x 2, three rows + 30 standard deviations")[3] == "100.0%"
    kept = bench("clean", "--draws", 2, "--only", "small", "--rule", "rules:everything")
    assert "100.0%" not in kept


def test_tables_compare_a_rule_with_ours(bench, tmp_path):
    options = ("--only", "s_counts500", "--draws", 1, "--kinds", "u1,garbage,clean")
    options += ("--methods", "inlier; MAD 5", "--rule", "rules:everything")
    text = bench("tables", *options)
    rule = cells(text, "rules:everything")
    assert rule[1:4] == ["1.000", "1 of 1", "0"]
    assert cells(text, "mean")[1] == "1.000"
    assert float(cells(text, "MAD 5")[1]) < 0.5
    # Fits of others are kept, ours and those of a rule are not.
    kept = records(tmp_path / "out" / "tables.csv")
    assert {line["method"] for line in kept} == {"MAD 5", "mean"}
    again = bench("tables", *options)
    assert cells(again, "MAD 5") == cells(text, "MAD 5")
    assert len(records(tmp_path / "out" / "tables.csv")) == len(kept)


def test_planted_errors_are_where_they_are_said_to_be(load):
    tables = load("tables")
    table = dict(tables.drawn_tables())["s_money300"]
    for kind in tables.ERRORS:
        made = tables.planted("s_money300", table, kind, 0)
        if made is None:
            continue
        Y, bad = made
        assert bad.any()
        np.testing.assert_array_equal((Y != table.X).any(axis=1), bad, err_msg=kind)
        again, _ = tables.planted("s_money300", table, kind, 0)
        np.testing.assert_array_equal(again, Y)
    Y, bad = tables.planted("s_money300", table, "u1", 0)
    i, j = np.argwhere(table.X != Y)[0]
    assert bad.sum() == 1
    assert Y[i, j] == 1000 * table.X[i, j]


def test_scores_follow_from_their_words(load):
    tables = load("tables")
    rng = np.random.default_rng(0)
    before = rng.standard_normal((50, 2)) * [1.0, 1000.0]
    Y, bad = before.copy(), np.arange(50) < 2
    Y[:2, 0] += 100.0
    shift = before[2:].std(axis=0) * [0.3, 0.4]
    kept = np.arange(50) != 1
    answer = tables.Answer(before[2:].mean(axis=0) + shift, kept)
    fit = tables.Fit("t", "u10", 0, "mine", *Y.shape)
    tables.scored(fit, answer, before, Y, bad)
    assert fit.error == pytest.approx(np.sqrt((0.3**2 + 0.4**2) / 2))
    assert (fit.found, fit.lost, fit.far_kept) == (0.5, 0.0, 1.0)


def test_an_unknown_method_is_named(bench):
    with pytest.raises(SystemExit, match="no method"):
        bench("tables", "--methods", "best of all")


def test_rules_of_others_in_training_are_those_of_the_package(load):
    rivals = load("federated_rivals").RIVALS
    U = np.random.default_rng(0).standard_normal((12, 30))
    U[:3] += 5.0
    told = {"alpha": 0.25}
    for name, method in (
        ("coordinate median", inlier.research.baselines.CoordinateMedian()),
        ("geometric median", inlier.research.baselines.GeometricMedian()),
        ("Krum", inlier.research.baselines.Krum(**told)),
        ("Multi-Krum", inlier.research.baselines.MultiKrum(**told)),
    ):
        np.testing.assert_allclose(
            rivals[name](12, 3)(U), method.fit(U).location_, atol=1e-4, err_msg=name
        )
    trimmed = stats.trim_mean(U, 0.25, axis=0)
    np.testing.assert_allclose(rivals["trimmed mean"](12, 3)(U), trimmed)


def test_errors_of_a_covariance_are_those_of_the_variances(load):
    script = load("covariance")
    X, good, truth = script.contaminated("10 times as wide along a direction", 4000, 4, 0.1, 0)
    assert np.sum(~good) == 400
    found = np.cov(X.T)
    expected = np.abs(linalg.eigh(found, truth, eigvals_only=True) - 1.0).max()
    assert script.relative_error(found, truth) == pytest.approx(expected)
    assert expected > 5.0 and script.relative_error(np.cov(X[good].T), truth) < 0.2


def test_training_with_clients(load):
    training = load("federated_training")
    attacks = load("federated_attacks").ATTACKS
    task, mean = training.digits(), lambda U: U.mean(axis=0)
    assert sum(np.prod(shape) for shape in task.shapes) == 4810
    good = training.train(task, training.Setting(4, 0, 1.0, 0), None, mean, rounds=8)
    again = training.train(task, training.Setting(4, 0, 1.0, 0), None, mean, rounds=8)
    bad = training.train(task, training.Setting(4, 1, 1.0, 0), attacks["gross"], mean, rounds=8)
    assert good == again > 0.6 and bad < 0.4


def test_gradients_of_the_training(load):
    training = load("federated_training")
    task = training.digits()
    theta = training.initial(task, np.random.default_rng(0)).astype(float)
    X, y = task.X[:16].astype(float), task.y[:16]

    def loss(v):
        W1, b1, W2, b2 = training.unpacked(v, task.shapes)
        out = np.maximum(X @ W1 + b1, 0.0) @ W2 + b2
        return -special.log_softmax(out, axis=1)[np.arange(16), y].mean()

    step = training.local_updates(task, theta, X[None, None], y[None, None], steps=1)[0]
    direction = np.random.default_rng(1).standard_normal(len(theta))
    slope = (loss(theta + 1e-6 * direction) - loss(theta - 1e-6 * direction)) / 2e-6
    assert step @ direction == pytest.approx(-training.RATE * slope, rel=1e-4)
