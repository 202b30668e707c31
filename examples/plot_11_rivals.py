"""
Which rival says what
=====================

``inlier.research.compare`` runs methods of the literature side by side. Those that need the
fraction of bad rows, or a bound on the good ones, are given the true value here, which is not known
in practice.
"""

import matplotlib.pyplot as plt

import inlier

# %%
# 178 handwritten zeros and 60 ones from scikit-learn. The truth is the mean of the zeros.

names = ["inlier", "mean", "coordinate-median", "geometric-median", "trimmed-mean"]
names += ["iterative-filtering", "que", "lrv", "cdg"]
methods = {name: name for name in names}
methods["inlier, symmetric"] = inlier.RobustMean(assume="symmetric")
data = inlier.datasets.digits(good=0, bad=1)
comparison = inlier.research.compare(data, methods, trials=1, timeout=None)
print(comparison)

# %%
# With nothing given, ones among zeros are a class that nobody has called bad, and ``inlier`` keeps
# them (:doc:`/assume`). Given that the rows are noise about one center, it finds them all.

errors = comparison.summary()["error"][::-1]
figure, axes = plt.subplots(figsize=(7, 3.8), layout="constrained")
colours = ["#0072B2" if name.startswith("inlier") else "#999999" for name in errors.index]
axes.barh(errors.index, errors, color=colours)
axes.set_xlabel("distance from the mean of the zeros")
axes.spines[["top", "right"]].set_visible(False)
