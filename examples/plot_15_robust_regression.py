"""
A regression with wrong units
=============================

Of 442 patients 10% have a disease score that was typed in another unit. The plain regression
follows them; `RobustFit` removes them, and fits the others.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.linear_model import LinearRegression

from inlier import RobustFit

X, y = load_diabetes(return_X_y=True)
bad = np.random.default_rng(0).permutation(len(y)) < 44
typed = np.where(bad, 10.0 * y, y)

good = LinearRegression().fit(X[~bad], y[~bad])
plain = LinearRegression().fit(X, typed)
robust = RobustFit(LinearRegression()).fit(X, typed)
print(robust.message_)
errors = [np.linalg.norm(m.coef_ - good.coef_) for m in (plain, robust.estimator_)]
print(
    f"error of the coefficients: less than a fifth of the plain fit's: {errors[1] < errors[0] / 5}"
)

# %%
# The coefficients of the good rows alone, of the plain fit and of the robust one.
_, axes = plt.subplots()
for model, name in ((good, "good rows"), (plain, "plain"), (robust.estimator_, "RobustFit")):
    axes.plot(model.coef_, "o", label=name)
axes.set_xlabel("column")
axes.set_ylabel("coefficient")
axes.legend()
plt.show()
