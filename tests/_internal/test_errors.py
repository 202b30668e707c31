"""A message names its arguments as its reader spells them."""

import pickle

from inlier._internal.errors import Argument, ArgumentError


def test_arguments_are_spelled_by_the_reader():
    error = ArgumentError("Give ", Argument("max_bytes", 5), " or ", Argument("sigma", ...), ".")
    assert str(error) == "Give max_bytes=5 or sigma=...."
    spelled = error.spelled(lambda argument: f"--{argument.name.replace('_', '-')}")
    assert spelled == "Give --max-bytes or --sigma."
    assert str(ArgumentError(Argument("columns"))) == "columns"
    assert isinstance(error, ValueError)


def test_an_error_survives_a_process():
    error = ArgumentError("Leave ", Argument("p", 0.5), " out.")
    assert str(pickle.loads(pickle.dumps(error))) == str(error)
