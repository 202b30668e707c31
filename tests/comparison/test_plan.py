"""Plans: several of them with the same workers give what each gives alone."""

import pytest

from contestants import CHEAP, MODEL, SEVERAL, without_seconds
from inlier.comparison.run import carry_out, plan


@pytest.mark.parametrize(("n_jobs", "timeout"), [(1, None), (1, 60.0), (2, None), (2, 60.0)])
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
    total = sum(p.n_fits for p in plans)
    assert total == sum(len(comparison.records) for comparison in found)
    done = [event[0] for event in told]
    # It never goes back, and ends when all is done.
    assert done == sorted(done) and (done[0], done[-1]) == (0, total)
    assert {event[1] for event in told} == {total}
    assert {event[2] for event in told} - {""} == {r.method for c in found for r in c.records}


def test_plans_say_what_is_to_be_done():
    planned = plan(MODEL, CHEAP, trials=4, random_state=3)
    assert planned.n_fits == 12 and planned.seeds == (3, 4, 5, 6)
    assert [method.name for method in planned.methods] == CHEAP
    assert plan(MODEL, "mean").n_fits == 20 and plan(MODEL.sample(0), "mean").seeds == (None,)
    assert carry_out([]) == []
    for options in ({"n_jobs": 0}, {"timeout": 0.0}):
        with pytest.raises(ValueError, match=next(iter(options))):
            carry_out([planned], **options)
