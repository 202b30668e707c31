"""Where the rows of a comparison come from, and what is planned with them."""

import numpy as np
import pytest
from scipy import sparse

from contestants import CHEAP, MODEL, SEVERAL, Impossible, Nameless, without_seconds
from inlier.research import compare
from inlier.research.comparison.run import carry_out, plan
from inlier.research.datasets import Sample


def test_tables_of_all_kinds():
    pandas = pytest.importorskip("pandas")
    X = MODEL.sample(0).X
    expected = X.mean(axis=0)
    for table in (X, X.tolist(), pandas.DataFrame(X), sparse.csr_array(X)):
        (record,) = compare(table, "mean", timeout=None).records
        np.testing.assert_allclose(record.location, expected, atol=1e-12)


def test_samples_without_a_model():
    sample = Sample(np.vstack([np.eye(3), np.full((1, 3), 50.0)]), np.array([False] * 3 + [True]))
    (record,) = compare(sample, "norm-trimmed-mean", timeout=None).records
    assert record.exact and record.error < 1e-12


def test_models_that_cannot_be_used(tmp_path):
    for timeout in (None, 10.0):
        with pytest.raises(RuntimeError, match="LookupError: no rows left"):
            compare(Impossible(), "mean", trials=1, timeout=timeout)
    with pytest.raises(ValueError, match="its repr does not say"):
        compare(Nameless(), "mean", trials=1, timeout=None, store=tmp_path / "fits.db")


# -- Many comparisons with the same workers -------------------------------------------------------


def test_a_model_that_cannot_be_used_is_named_among_others():
    plans = [plan(MODEL, "mean", trials=1), plan(Impossible(), "mean", trials=1)]
    for timeout in (None, 10.0):
        with pytest.raises(RuntimeError, match=r"Impossible\(\) cannot be had: .* no rows left"):
            carry_out(plans, timeout=timeout)


@pytest.mark.parametrize(("n_jobs", "timeout"), [(1, None), (1, 60.0), (2, None)])
def test_several_plans_give_what_each_gives_alone(one_by_one, n_jobs, timeout):
    plans = [plan(data, methods, **more) for data, methods, more in SEVERAL]
    told = []
    found = carry_out(
        plans, n_jobs=n_jobs, timeout=timeout, watch=lambda *event: told.append(event)
    )
    assert len(found) == len(SEVERAL)
    for alone, together in zip(one_by_one, found, strict=True):
        assert without_seconds(together) == without_seconds(alone)
        assert (together.data, together.note) == (alone.data, alone.note)
        assert together.truth_known == alone.truth_known
    total = sum(len(p.seeds) * len(p.methods) for p in plans)
    assert total == sum(len(comparison.records) for comparison in found)
    done = [event[0] for event in told]
    # It never goes back, and ends when all is done.
    assert done == sorted(done) and (done[0], done[-1]) == (0, total)
    assert {event[1] for event in told} == {total}
    assert {event[2] for event in told} - {""} == {r.method for c in found for r in c.records}


def test_plans_say_what_is_to_be_done():
    planned = plan(MODEL, CHEAP, trials=4, random_state=3)
    assert planned.seeds == (3, 4, 5, 6)
    assert [method.name for method in planned.methods] == CHEAP
    assert len(plan(MODEL, "mean").seeds) == 20 and plan(MODEL.sample(0), "mean").seeds == (None,)
    assert carry_out([]) == []
    for options in ({"n_jobs": 0}, {"timeout": 0.0}):
        with pytest.raises(ValueError, match=next(iter(options))):
            carry_out([planned], **options)
