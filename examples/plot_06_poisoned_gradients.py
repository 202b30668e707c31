"""
Training on a poisoned set
==========================

A linear regression learns the progression of diabetes from scikit-learn's 442 patients, ten columns
each, by gradient descent. 60 made-up patients have been slipped into its 300 training rows. None of
their numbers is far out, but all say the opposite of the others.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes

import inlier

X, y = load_diabetes(return_X_y=True)
X, y = X / X.std(axis=0), (y - y.mean()) / y.std()
rng = np.random.default_rng(0)
order = rng.permutation(len(y))
train, test = order[:300], order[300:]
slope = np.linalg.lstsq(X[train], y[train], rcond=None)[0]
poison = 3 * slope / np.linalg.norm(slope) + 0.3 * rng.standard_normal((60, 10))
rows = np.concatenate([X[train], poison])
targets = np.concatenate([y[train], rng.normal(-1.4, 0.05, 60)])
is_poison = np.arange(360) >= 300

# %%
# The gradient of the loss is a mean over rows. Near the solution, those of honest rows are noise
# about one center, so ``assume="symmetric"`` is what we know of them.


def plain(gradients):
    return gradients.mean(axis=0)


def robust(gradients):
    return inlier.robust_mean(gradients, assume="symmetric").location


def learn(rows, targets, average, steps=25):
    weights, errors = np.zeros(10), []
    for _ in range(steps):
        gradients = rows * (rows @ weights - targets)[:, None]
        weights = weights - 0.2 * average(gradients)
        errors.append(np.mean((X[test] @ weights - y[test]) ** 2))
    return weights, errors


curves = {
    "plain mean, poisoned rows": learn(rows, targets, plain),
    "inlier, poisoned rows": learn(rows, targets, robust),
    "plain mean, without the poison": learn(X[train], y[train], plain),
}

# %%
# At the end the removed rows are the poison.

weights, _ = curves["inlier, poisoned rows"]
last = inlier.robust_mean(rows * (rows @ weights - targets)[:, None], assume="symmetric")
removed = ~last.support
print(f"removed: {(removed & is_poison).sum()} of 60 poisoned rows,", end=" ")
print(f"{(removed & ~is_poison).sum()} of 300 others")

# %%

figure, axes = plt.subplots(figsize=(6.5, 3.4), layout="constrained")
styles = [("#D55E00", "-"), ("#0072B2", "-"), ("black", ":")]
for (name, (_, errors)), (colour, line) in zip(curves.items(), styles, strict=True):
    axes.plot(errors, color=colour, ls=line, lw=2, label=name)
    explained = 1 - errors[-1] / y[test].var()
    print(f"{name:<31} explains {explained:.0%} of the variance of new patients")
axes.set(xlabel="step", ylabel="squared error on new patients")
axes.legend(frameon=False)
axes.spines[["top", "right"]].set_visible(False)
