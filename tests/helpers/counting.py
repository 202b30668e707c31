"""Work counted instead of timed, and the memory of a process."""

import sys
from contextlib import contextmanager


@contextmanager
def counting_calls():
    """Count the calls of functions, those of extension modules included, into a list of one."""
    counted = [0]

    def count(_frame, event, _argument):
        counted[0] += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        yield counted
    finally:
        sys.setprofile(before)
