"""
Robust means in a classifier
============================

Nearest-centroid classification assigns a row to the class whose mean is nearest. Here 5% of the
training pictures of handwritten digits were stored with pixels from 0 to 255 instead of 0 to 16,
and pull the means away. With the robust mean of each class, the classifier is not affected.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_digits
from sklearn.metrics.pairwise import pairwise_distances_argmin
from sklearn.utils.validation import check_is_fitted, validate_data

import inlier


class NearestMean(ClassifierMixin, BaseEstimator):
    """Assign each row to the class whose mean is nearest."""

    def __init__(self, robust=True):
        self.robust = robust

    def fit(self, X, y):
        X, y = validate_data(self, X, y)
        self.classes_ = np.unique(y)
        self.support_ = np.ones(len(X), dtype=bool)
        self.means_ = np.stack([X[y == label].mean(axis=0) for label in self.classes_])
        if self.robust:
            for j, label in enumerate(self.classes_):
                result = inlier.robust_mean(X[y == label])
                self.means_[j], self.support_[y == label] = result.location, result.support
        return self

    def predict(self, X):
        check_is_fitted(self)
        X = validate_data(self, X, reset=False)
        # Distances are computed from squares, which lose the digits of rows far from zero.
        center = self.means_[0]
        return self.classes_[pairwise_distances_argmin(X - center, self.means_ - center)]


# %%
# Half of the pictures are for training, and some of these are in the wrong unit.

pictures, digit = load_digits(return_X_y=True)
rng = np.random.default_rng(0)
training = np.arange(len(digit)) % 2 == 0
X, y = pictures[training].copy(), digit[training]
bad = rng.random(len(X)) < 0.05
X[bad] *= 255 / 16

plain = NearestMean(robust=False).fit(X, y)
robust = NearestMean().fit(X, y)
clean = NearestMean(robust=False).fit(X[~bad], y[~bad])
for name, model in [("plain", plain), ("robust", robust), ("without bad rows", clean)]:
    accuracy = model.score(pictures[~training], digit[~training])
    print(f"{name:16} means: {accuracy:.1%} of new pictures right")

# %%
# The rows that were removed are the bad ones.

removed = ~robust.support_
print(f"{removed.sum()} rows removed, {(removed & bad).sum()} of them bad")

# %%
# The means of the classes as pictures.

figure, axes = plt.subplots(2, 10, figsize=(8, 2), layout="constrained")
for row, (name, model) in zip(axes, [("plain", plain), ("robust", robust)], strict=True):
    row[0].set_ylabel(name)
    for panel, center in zip(row, model.means_, strict=True):
        panel.imshow(center.reshape(8, 8), cmap="Greys", vmin=0, vmax=16)
        panel.set(xticks=[], yticks=[])
