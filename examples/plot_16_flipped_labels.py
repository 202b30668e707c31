"""
A classifier with flipped labels
================================

The labels of a tenth of the pictures of threes and eights are wrong. The fit of the others shows
which ones: `RobustFit` judges each class on its own.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

from inlier import RobustFit

digits = load_digits()
rows = np.isin(digits.target, (3, 8))
X, truth = digits.data[rows] / 16.0, digits.target[rows]
flipped = np.random.default_rng(0).permutation(len(X)) < 36
y = np.where(flipped, 11 - truth, truth)

model = RobustFit(LogisticRegression()).fit(X, y)
removed = ~model.support_
print(model.message_)
print(f"at least two thirds of the flipped labels found: {removed[flipped].mean() > 2 / 3}")

# %%
# The least likely labels.
_, axes = plt.subplots(1, 6, figsize=(9, 2))
for picture, i in zip(axes, np.argsort(model.p_values_), strict=False):
    picture.imshow(X[i].reshape(8, 8), cmap="gray_r")
    picture.set_title(f"called {y[i]}")
    picture.axis("off")
plt.show()
