"""
Faces, and pictures that are none
=================================

100 photographs of faces and 40 cuttings of backgrounds, 25 x 25 pixels, from scikit-image's
``lfw_subset``. Poses and lights differ so much that nothing separates the two kinds, unless
something is known about one of them.
"""

import matplotlib.pyplot as plt
import numpy as np
from skimage.data import lfw_subset

import inlier

pictures = lfw_subset().astype(float).reshape(200, -1)
X, is_face = pictures[:140], np.arange(140) < 100
truth = X[is_face].mean(axis=0)

# %%
# With nothing given all rows are kept, and the answer is the plain mean.

print(inlier.robust_mean(X).message)

# %%
# Suppose that somebody has checked 50 of the pictures, and they are faces. How much these vary in
# any direction is the bound that the paper asks for.

checked = X[:50]
sigma = np.sqrt(np.linalg.eigvalsh(np.cov(checked.T))[-1])
result = inlier.robust_mean(X, sigma=sigma)
print(result.message)

# %%
# No face is removed. The backgrounds that are kept lie nearer to the mean face than the removed
# ones, and move a mean less.

removed = ~result.support
print(
    f"removed: {(removed & ~is_face).sum()} of {(~is_face).sum()} backgrounds, "
    f"{(removed & is_face).sum()} of {is_face.sum()} faces"
)
distance = np.linalg.norm(X - truth, axis=1)
for name, rows in [
    ("faces", is_face),
    ("backgrounds kept", ~is_face & ~removed),
    ("backgrounds removed", removed & ~is_face),
]:
    print(f"{name:<20} {distance[rows].mean():.1f} from the mean face, on average")

# %%

means = {
    "plain mean": X.mean(axis=0),
    "median of each pixel": np.median(X, axis=0),
    "inlier, sigma given": result.location,
    "mean of the faces": truth,
}
figure, axes = plt.subplots(1, 4, figsize=(7.5, 2.5), layout="constrained")
for ax, (name, mean) in zip(axes, means.items(), strict=True):
    error = np.linalg.norm(mean - truth)
    ax.imshow(mean.reshape(25, 25), cmap="gray")
    ax.set_title(f"{name}\nerror {error:.2f}", fontsize=9)
    ax.set_axis_off()
