"""
A Dask array with one bad chunk
===============================

64,009 cuttings of 8 x 8 pixels from scikit-image's ``camera``, in chunks of rows, as a cluster
would hold them. Whoever wrote one of the chunks did not divide by 255.
"""

import dask.array as da
import matplotlib.pyplot as plt
import numpy as np
from skimage.data import camera

import inlier

windows = np.lib.stride_tricks.sliding_window_view(camera(), (8, 8))[::2, ::2]
patches = windows.reshape(-1, 64).astype(np.float32) / 255
patches[40_000:44_000] *= 255
X = da.from_array(patches, chunks=(4_000, 64))
print(X)

# %%
# The fit sends a few tasks to each chunk and adds up what they return. Here Dask runs them in this
# process; ``inlier.open_table(X, client=...)`` names a cluster.

result = inlier.robust_mean(X)
print(result.message)
print("passes over the data:", result.details.n_passes)

# %%
# Which chunk is it?

chunk = np.arange(len(patches)) // 4_000
share = np.bincount(chunk, ~result.support) / np.bincount(chunk)
for number in np.flatnonzero(share):
    print(f"chunk {number}: {share[number]:.1%} of its rows removed")

figure, axes = plt.subplots(figsize=(6.5, 3), layout="constrained")
axes.bar(range(len(share)), 100 * share, color=np.where(share > 0.5, "#D55E00", "#0072B2"))
axes.set(xlabel="chunk", ylabel="rows removed, %", xticks=range(len(share)))
axes.spines[["top", "right"]].set_visible(False)
