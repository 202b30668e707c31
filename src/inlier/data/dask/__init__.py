"""Tables held by Dask: each pass is one task for each chunk of rows, and a tree of sums.

The chunks stay on the workers. What has an entry for each row is a numpy array on the client; the
part of it that belongs to a chunk travels with the task. Sums over rows are added up on the
workers, so that one of each comes back, and not one for each chunk.
"""

from inlier.data.dask.opening import open_dask
from inlier.data.dask.table import DaskTable

__all__ = ["DaskTable", "open_dask"]
