"""
A clean table stays as it is
============================

30 measurements of the cell nuclei of 569 tumors: scikit-learn's breast cancer data. Nobody has put
errors into it, its columns are skewed, and there are two kinds of tumors. What do the usual rules
remove?
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.covariance import EllipticEnvelope
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import IsolationForest
from sklearn.neighbors import LocalOutlierFactor

import inlier

X, kind = load_breast_cancer(return_X_y=True)
low, high = np.quantile(X, [0.25, 0.75], axis=0)
middle, reach = (low + high) / 2, 3.5 * (high - low)  # 3 quartile ranges beyond the quartiles
median = np.median(X, axis=0)
deviation = 1.4826 * np.median(abs(X - median), axis=0)
kept = {
    "inlier": inlier.robust_mean(X).support,
    "Tukey's fences, 3 quartile ranges": (abs(X - middle) <= reach).all(axis=1),
    "5 median absolute deviations": (abs(X - median) <= 5 * deviation).all(axis=1),
    "isolation forest": IsolationForest(random_state=0).fit_predict(X) > 0,
    "elliptic envelope": EllipticEnvelope(random_state=0).fit_predict(X) > 0,
    "local outlier factor": LocalOutlierFactor().fit_predict(X) > 0,
}

# %%
# Beside the number of rows, how far the mean moves for no reason: in each column in units of its
# standard deviation, and then the root mean square.

moved = {}
for name, rows in kept.items():
    moved[name] = np.sqrt(np.mean(((X[rows].mean(axis=0) - X.mean(axis=0)) / X.std(axis=0)) ** 2))
    print(f"{name:<34} removes {(~rows).sum():3d} rows, the mean moves by {moved[name]:.3f}")

# %%
# The removed rows are no errors: with every rule, most of them are malignant tumors.

malignant = {name: (kind[~rows] == 0).sum() for name, rows in kept.items()}
figure, axes = plt.subplots(figsize=(7.5, 3), layout="constrained")
names = list(kept)[::-1]
bad = [malignant[name] for name in names]
rest = [(~kept[name]).sum() - malignant[name] for name in names]
axes.barh(names, bad, color="#D55E00", label="malignant")
axes.barh(names, rest, left=bad, color="#0072B2", label="benign")
axes.set_xlabel("rows removed, of 569 good ones")
axes.legend(frameon=False)
axes.spines[["top", "right"]].set_visible(False)
