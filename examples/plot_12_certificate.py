"""
How far off can the mean be?
============================

Every answer comes with a certificate: a bound on its error that holds however bad rows were placed.
Here are scikit-learn's 178 handwritten zeros, ten of which were saved with a brightness of 0 to 255
instead of 0 to 16. Here the truth is known, so that the bound can be compared with the true error.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

import inlier

pictures, digit = load_digits(return_X_y=True)
X = pictures[digit == 0]
bad = np.arange(len(X)) % 18 == 0
X[bad] *= 255 / 16
truth = X[~bad].mean(axis=0)

result = inlier.robust_mean(X)
print(f"{len(result.outliers)} rows removed, {bad[result.outliers].sum()} of them bad")
print(result.certificate.statement())

# %%
# The certificate can be checked again from the data alone, without trusting the fit.

print(result.certificate.verify(X))

# %%
# The bound depends on the fraction of bad rows that is allowed for. It covers mistakes of the fit
# too: removed rows count as possibly good, and kept rows as possibly bad. With all rows put back,
# it is that of the plain mean.

plain = result.keep(0)
alphas = np.linspace(0, 0.3, 100)
figure, axes = plt.subplots(figsize=(6.5, 3.6), layout="constrained")
for answer, colour, name in [(plain, "#D55E00", "all rows"), (result, "#0072B2", "kept rows")]:
    error = np.linalg.norm(answer.location - truth)
    axes.plot(alphas, answer.certificate.error_radius(alphas), c=colour, label=f"bound, {name}")
    axes.plot(bad.mean(), error, "o", c=colour, label=f"error of their mean: {error:.1f}")
axes.set(xlabel="fraction of bad rows that is allowed for", ylabel="distance from the true mean")
axes.legend(frameon=False)
axes.spines[["top", "right"]].set_visible(False)
