"""Ten dirty files from end to end: mistakes are named, and the repaired file is right."""

import re

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine

from commands import invoke
from inlier.search import thresholds

CODE, POINT = "like a code for a missing value", "like a misplaced decimal point"
# A length in the units of several columns at once.
MIXED = re.compile(r"off by \d|vary by at most|is within [\d.]+ of that")


def people(n=300, seed=0):
    rng = np.random.default_rng(seed)
    height = rng.normal(172.0, 8.0, n).round(0)
    return pd.DataFrame(
        {
            "name": [f"P{i:03d}" for i in range(1, n + 1)],
            "age": rng.integers(20, 85, n),
            "weight_kg": (0.9 * height - 90.0 + rng.normal(0.0, 8.0, n)).round(1),
            "height_cm": height,
            "sbp_mmhg": rng.normal(128.0, 9.0, n).round(0),
            "temp_c": rng.normal(36.8, 0.3, n).round(1),
        }
    )


def codes(frame):
    frame.loc[:7, "age"] = -999
    return ["8 x -999 in age, " + CODE], {(i, "age"): np.nan for i in range(8)}


def codes_once(frame):
    frame.loc[3, "sbp_mmhg"], frame.loc[9, "height_cm"] = 9999, -1
    said = ["1 x 9999 in sbp_mmhg, " + CODE, "1 x -1 in height_cm, " + CODE]
    return said, {(3, "sbp_mmhg"): np.nan, (9, "height_cm"): np.nan}


def pounds(frame):
    frame.loc[20:23, "weight_kg"] = (2.20462 * frame.loc[20:23, "weight_kg"]).round(1)
    return ["4 x about 2.2046 times the usual in weight_kg, like pounds"], {}


def metres(frame):
    frame["height_cm"] = frame["height_cm"].astype(float)
    frame.loc[[5, 6], "height_cm"] /= 100.0
    return [f"2 x about 1/100 of the usual in height_cm, {POINT}"], {}


def swapped(frame):
    pair = ["weight_kg", "height_cm"]
    frame.loc[40, pair] = frame.loc[40, pair[::-1]].tolist()
    return [
        "1 x a usual value of height_cm in weight_kg, like swapped cells",
        "1 x a usual value of weight_kg in height_cm, like swapped cells",
    ], {}


def fahrenheit(frame):
    frame.loc[10:12, "temp_c"] = (1.8 * frame.loc[10:12, "temp_c"] + 32.0).round(1)
    return ["3 x about 1.8 times the usual + 32 in temp_c, like Fahrenheit"], {}


def kilopascals(frame):
    frame.loc[50:52, "sbp_mmhg"] = (frame.loc[50:52, "sbp_mmhg"] / 7.50062).round(2)
    return ["3 x about 1/7.5006 of the usual in sbp_mmhg, like kilopascals"], {}


def a_lost_point(frame):
    frame.loc[60, "temp_c"] = 10.0 * frame.loc[60, "temp_c"]
    return [f"1 x about 10 times the usual in temp_c, {POINT}"], {}


def several(frame):
    parts = [mistake(frame) for mistake in (codes, a_lost_point, swapped)]
    return [line for said, _ in parts for line in said], parts[0][1]


def nothing(frame):
    return [], {}


def as_csv(frame, path):
    frame.to_csv(path, index=False)


def european(frame, path):
    frame.to_csv(path, index=False, sep=";", decimal=",")


def as_parquet(frame, path):
    frame.to_parquet(path)


def as_workbook(frame, path):
    pytest.importorskip("openpyxl")
    frame.to_excel(path, startrow=2, index=False)


FILES = {
    "codes.csv": (codes, as_csv),
    "codes once.parquet": (codes_once, as_parquet),
    "pounds.csv": (pounds, as_csv),
    "metres.csv": (metres, european),
    "swapped.xlsx": (swapped, as_workbook),
    "fahrenheit.csv": (fahrenheit, european),
    "kilopascals.csv": (kilopascals, as_csv),
    "a lost point.parquet": (a_lost_point, as_parquet),
    "several.csv": (several, as_csv),
    "clean.csv": (nothing, as_csv),
}


@pytest.mark.parametrize("name", FILES)
def test_a_dirty_file(tmp_path, name):
    mistake, save = FILES[name]
    truth, frame = people(), people()
    frame = frame.astype({"age": int}).astype({"sbp_mmhg": float})
    said, gone = mistake(frame)
    path, log = tmp_path / name, tmp_path / "changes.csv"
    save(frame, path)
    clean = tmp_path / f"repaired{'.parquet' if path.suffix == '.parquet' else '.csv'}"
    words = ("fit", path, "--id-column", "name")
    done = invoke(*words, "--clean", clean, "--fix", log, "--exit-code")
    assert (done.exit_code, done.stderr) == (3 if said else 0, "")
    for line in said:
        assert line in done.stdout
    assert len(re.findall(r"^ +[\d,]+ x ", done.stdout, flags=re.M)) == len(said)
    assert not MIXED.search(done.stdout)
    # The repaired file is the true one, but for cells that nobody knows.
    for (row, column), value in gone.items():
        truth = truth.astype({column: float})
        truth.loc[row, column] = value
    comma = {"sep": ";", "decimal": ","} if save is european else {}
    found = pd.read_parquet(clean) if clean.suffix == ".parquet" else pd.read_csv(clean, **comma)
    pd.testing.assert_frame_equal(found, truth, check_dtype=False, rtol=2e-3)
    # The log leads from the one to the other.
    changes = pd.read_csv(log)
    assert set(changes["change"]) <= {"emptied", "repaired"}
    again = frame.set_index("name").astype(float)
    for change in changes.itertuples():
        assert again.loc[change.name, change.column] == pytest.approx(change.before)
        again.loc[change.name, change.column] = change.after
    pd.testing.assert_frame_equal(again, found.set_index("name"), check_dtype=False)
    # Without being asked, nothing is changed but that cells are left empty.
    invoke(*words, "--clean", clean)
    left = pd.read_parquet(clean) if clean.suffix == ".parquet" else pd.read_csv(clean, **comma)
    left, before = left.set_index("name").astype(float), frame.set_index("name").astype(float)
    same = before.loc[left.index]
    assert ((left == same) | left.isna()).to_numpy().all()
    assert len(before) - len(left) + int(left.isna().to_numpy().sum()) > 0 or not said


def test_codes_that_are_named_as_the_terminal_says_leave_the_same_mean(tmp_path):
    frame = people()
    several(frame)
    path = tmp_path / "t.csv"
    frame.to_csv(path, index=False)
    words = ("fit", path, "--id-column", "name")
    (option,) = re.findall(r"(--na-values=\S+)", invoke(*words).stdout)
    before, after = (invoke(*words, *more, "--mean", "-").stdout for more in ((), (option,)))
    means = [
        pd.read_csv(pd.io.common.StringIO(text), index_col=0)["mean"] for text in (before, after)
    ]
    pd.testing.assert_series_equal(*means)


@pytest.mark.parametrize("width", [80, 140])
def test_tables_fit_the_terminal(tmp_path, width):
    table = load_wine(as_frame=True).data
    table.loc[[3, 50, 121], "magnesium"] *= 10
    table.to_csv(tmp_path / "wines.csv", index=False)
    lines = invoke("fit", tmp_path / "wines.csv", COLUMNS=str(width)).stdout.splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("column "))
    assert lines[start - 1].strip() == "The most shifted 10 of 13 columns:"
    assert all(len(line.rstrip()) <= width for line in lines[start : start + 11])
    shown = [line.split()[0] for line in lines[start + 1 : start + 11]]
    assert shown[0] == "magnesium" and len(set(shown)) == 10


def test_the_line_of_the_first_row_is_told(tmp_path):
    lines = ["our data", "", "a,b", *(f"{i % 7},{i % 5}" for i in range(40))]
    path = tmp_path / "t.csv"
    path.write_text("\n".join(lines) + "\n\n")
    assert "Row 1 is line 4 of the file." in invoke("fit", path).stdout
    path.write_text("\n".join([*lines[:3], "", *lines[3:]]))
    assert "Row 1 is line 5 of the file." in invoke("fit", path).stdout
    path.write_text(
        "\n".join(["a,b,note", '1,2,"of two\nlines"', *(f"{i % 7},{i % 5},x" for i in range(40))])
    )
    assert "Row 1 is line 2 of the file." in invoke("fit", path).stdout


def test_what_is_printed_in_place_of_the_answer(tmp_path):
    path = tmp_path / "t.csv"
    people().to_csv(path, index=False)
    printed = pd.read_csv(pd.io.common.StringIO(invoke("fit", path, "--mean", "-").stdout))
    numbers = people().drop(columns="name")
    np.testing.assert_allclose(printed["mean"], numbers.mean())
    np.testing.assert_allclose(printed["standard_error"], numbers.sem())
    for words, said in (
        (("--mean", "-", "--json", "-"), "cannot both be printed"),
        (("--drop-rows",), "Give --clean too"),
        (
            ("--clean", tmp_path / "c.csv", "--drop-rows", "--fix", tmp_path / "l.csv"),
            "one of them",
        ),
        (("--fix", "-"), "only --mean and --json"),
    ):
        done = invoke("fit", path, *words)
        assert done.exit_code == 2 and said in done.stderr and done.stdout == ""


def test_the_verdict_does_not_depend_on_the_size(tmp_path, monkeypatch):
    """A table that is too large to be tested in full has the same counts, and the same reasons."""
    frame = people(20_000).drop(columns="name")
    frame.loc[::9, "age"] = -999
    frame.loc[5, "height_cm"] = 1.7
    frame.to_csv(tmp_path / "t.csv", index=False)
    told = []
    for cells in (thresholds.WHOLE_CELLS, 1 << 16):
        monkeypatch.setattr(thresholds, "WHOLE_CELLS", cells)
        monkeypatch.setattr(thresholds, "SAMPLE_CELLS", cells // 4)
        done = invoke("fit", tmp_path / "t.csv").stdout
        told.append(re.findall(r"^ +[\d,]+ x [^:]*", done, flags=re.M))
        assert f"{len(frame[::9]):,} x -999 in age, {CODE}" in done
    assert told[0] == told[1]


def test_what_was_written_is_counted_after_repairs(tmp_path):
    frame = pd.DataFrame({"x": [*np.random.default_rng(1).normal(10.0, 1.0, 40), 1000.0, -999.0]})
    path, clean, log = tmp_path / "x.csv", tmp_path / "clean.csv", tmp_path / "log.csv"
    frame.to_csv(path, index=False)
    shown = invoke("fit", path, "--clean", clean, "--fix", log).stdout
    assert "removed 2" in shown
    assert "clean.csv: 41 rows" in shown
    assert "log.csv: 1 cell repaired, 0 emptied, 1 row left out" in shown
    # A code in the only column leaves nothing of its row.
    np.testing.assert_allclose(pd.read_csv(clean)["x"], [*frame["x"][:40], 10.0])
