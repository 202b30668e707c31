"""
A batch with the wrong label
============================

Ten pictures of one digit were labelled as another. A linear discriminant that was fitted to other
pictures gives each picture nine features. Which members of a pile with the same label do not belong
there? All 90 pairs of digits are tried.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

import inlier

pictures, digit = load_digits(return_X_y=True)
seen = np.arange(len(digit)) % 2 == 0
model = LinearDiscriminantAnalysis().fit(pictures[seen], digit[seen])
features, digit = model.transform(pictures[~seen]), digit[~seen]

# %%
# Nothing is assumed, and nothing is given.

found, lost = np.full((10, 10), np.nan), 0
for label in range(10):
    own = features[digit == label]
    for other in set(range(10)) - {label}:
        pile = np.concatenate([own, features[digit == other][:10]])
        removed = ~inlier.robust_mean(pile).support
        found[label, other] = removed[len(own) :].sum()
        lost += removed[: len(own)].sum()

most, none = (found >= 9).sum(), (found == 0).sum()
print(f"nine or ten found in {most} of 90 pairs, none in {none}")
print(f"good pictures removed: {lost} of {9 * len(digit)}")

# %%
# A batch is removed if it is well separated from its pile. Where two digits overlap in these
# features, it is kept, and so are the good pictures.

figure, axes = plt.subplots(figsize=(5.2, 4.2), layout="constrained")
image = axes.imshow(found, cmap="Blues", vmin=0, vmax=10)
for label, other in zip(*np.nonzero(found >= 0), strict=True):
    count = int(found[label, other])
    colour = "white" if count > 6 else "black"
    axes.text(other, label, count, ha="center", va="center", fontsize=8, color=colour)
axes.set_xticks(range(10))
axes.set_yticks(range(10))
axes.set(xlabel="what the ten pictures are", ylabel="what their label says")
figure.colorbar(image, label="found, of 10")
