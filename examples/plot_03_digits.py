"""
Scans in the wrong pile
=======================

178 handwritten zeros of scikit-learn's digits, into which 45 other digits have been mixed, five of
each kind. What is the mean zero, and which scans do not belong there?
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

import inlier

pictures, digit = load_digits(return_X_y=True)
strangers = np.concatenate([np.flatnonzero(digit == other)[:5] for other in range(1, 10)])
X = np.concatenate([pictures[digit == 0], pictures[strangers]])
is_zero = np.arange(len(X)) < (digit == 0).sum()

# %%
# Scans of one digit are noise about one center, and we know that this pile should be one digit. So
# ``assume="symmetric"``: any surplus on one side is evidence.

result = inlier.robust_mean(X, assume="symmetric")
print(result.message)

# %%
# With nothing given, rows of another kind may be a class, which nobody has called bad, and are kept
# unless they are unmistakable.

cautious = inlier.robust_mean(X)
print(cautious.message)

# %%

truth = X[is_zero].mean(axis=0)
means = {"plain mean": X.mean(axis=0), "inlier": result.location, "all zeros": truth}
figure = plt.figure(figsize=(7.5, 3.2), layout="constrained")
left, right = figure.subfigures(1, 2, width_ratios=[1, 1.4])
for axes, (name, mean) in zip(left.subplots(1, 3), means.items(), strict=True):
    axes.imshow(mean.reshape(8, 8), cmap="gray_r")
    axes.set_title(f"{name}\nerror {np.linalg.norm(mean - truth):.2f}", fontsize=9)
    axes.set_axis_off()
right.suptitle("What was removed", fontsize=10)
for axes, row in zip(right.subplots(4, 12).flat, result.outliers, strict=False):
    axes.imshow(X[row].reshape(8, 8), cmap="Oranges")
for axes in right.axes:
    axes.set_axis_off()
removed = ~result.support
print(
    f"removed: {(removed & ~is_zero).sum()} of {(~is_zero).sum()} other digits, "
    f"{(removed & is_zero).sum()} of {is_zero.sum()} zeros"
)
