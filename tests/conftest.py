"""Settings for all tests."""

from hypothesis import settings

# The same examples each time, and none fails because the machine is busy.
settings.register_profile("repeatable", deadline=None, derandomize=True)
settings.load_profile("repeatable")
