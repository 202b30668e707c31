"""The answers of a fit are those on record, until the rule that decides is changed."""

import importlib.util
import json
from pathlib import Path

import pytest

SPEC = importlib.util.spec_from_file_location("golden", Path(__file__).with_name("tables.py"))
golden = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(golden)

FAMILIES = (
    "drawn",
    "given",
    "missing",
    "extreme",
    "wide_and_sparse",
    "of_scikit_learn",
    "noise",
    "larger",
)


@pytest.fixture(scope="module")
def record():
    return json.loads(golden.RECORD.read_text(encoding="utf-8"))


@pytest.mark.parametrize("family", FAMILIES)
def test_answers_are_those_on_record(record, family):
    tables = [table for table in golden.all_tables() if table.name.startswith(f"{family}: ")]
    assert len(tables) == sum(name.startswith(f"{family}: ") for name in record)
    found = {
        table.name: found
        for table in tables
        if (found := golden.differences(record[table.name], golden.answer(table)))
    }
    assert found == {}


def test_another_answer_is_noticed(record):
    name, stored = next(iter(record.items()))
    for change in (
        {"removed": [*stored["removed"], 1]},
        {"location": [x + 1e-5 for x in stored["location"]]},
        {"sigma": 1.00001 * stored["sigma"]},
        {"groups": [*stored["groups"], ["clear", 1, -20.0]]},
    ):
        assert golden.differences(stored, stored | change), (name, change)
