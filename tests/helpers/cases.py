"""Many cases in one test: each is reported on its own, but the suite counts and schedules one."""

import functools
import inspect
import itertools
from collections.abc import Callable, Iterable
from typing import Any

Test = Callable[..., None]


def cases(names: str | tuple[str, ...], values: Iterable[Any]) -> Callable[[Test], Test]:
    """Run a test for each of the values, as `pytest.mark.parametrize` would, as one test.

    Several of these on one test are all combinations. All cases are run; those that fail are named
    with their arguments. Fixtures are shared by the cases, so `parametrize` is right where a case
    has to begin with a fresh one.
    """
    names = tuple(names.replace(" ", "").split(",")) if isinstance(names, str) else names
    values = [(value,) if len(names) == 1 else value for value in values]
    assert values, "a test without any case cannot fail"
    assert all(len(value) == len(names) for value in values), f"not all values are {names}"

    def decorate(test: Test) -> Test:
        axes = [(names, values), *getattr(test, "axes", [])]
        run = getattr(test, "run", test)
        given = {name for names, _ in axes for name in names}
        parameters = list(inspect.signature(run).parameters.values())
        assert given <= {parameter.name for parameter in parameters}, f"{given} are not all taken"

        @functools.wraps(run)
        def all_cases(subtests: Any, **fixtures: Any) -> None:
            for chosen in itertools.product(*(values for _, values in axes)):
                arguments: dict[str, Any] = {}
                for (names, _), value in zip(axes, chosen, strict=True):
                    arguments |= zip(names, value, strict=True)
                with subtests.test(**arguments):
                    run(**arguments, **fixtures)

        left = [parameter for parameter in parameters if parameter.name not in given]
        subtests = inspect.Parameter("subtests", inspect.Parameter.KEYWORD_ONLY)
        all_cases.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
            [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in left] + [subtests]
        )
        all_cases.axes, all_cases.run = axes, run  # type: ignore[attr-defined]
        all_cases.pytestmark = list(getattr(test, "pytestmark", []))  # type: ignore[attr-defined]
        return all_cases

    return decorate
