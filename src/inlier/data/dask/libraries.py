"""Modules of Dask, which are optional."""

from typing import Any

from inlier._internal.optional import optional


def imported(module: str) -> Any:
    """Import a module of the extra."""
    return optional(module, "For data held by Dask", "dask")


dask = imported("dask")
da = imported("dask.array")
get_scheduler = imported("dask.base").get_scheduler
threaded_get = imported("dask.threaded").get
ensure_dict = imported("dask.utils").ensure_dict
ThreadpoolController = imported("threadpoolctl").ThreadpoolController
