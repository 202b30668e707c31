"""
A federated round with liars
============================

20 clients have a share of scikit-learn's digits each. They train a linear classifier on it and send
what has changed. Six of them have taught it that every digit is the next one. The server does not
know how many lie.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.special import softmax
from sklearn.datasets import load_digits

from inlier.federated import Record, aggregate

X, y = load_digits(return_X_y=True)
order = np.random.default_rng(0).permutation(len(y))
X, y = np.c_[X[order] / 16, np.ones(len(y))], y[order]
test, liars = slice(0, 300), range(6)


def train(model, client):
    mine = slice(300 + client, None, 20)
    labels = (y[mine] + 1) % 10 if client in liars else y[mine]
    trained = model
    for _ in range(20):
        error = softmax(X[mine] @ trained, axis=1) - np.eye(10)[labels]
        trained = trained - 0.5 * X[mine].T @ error / len(labels)
    return trained - model


def accuracy(model):
    return np.mean((X[test] @ model).argmax(axis=1) == y[test])


# %%
# One round, judged.

start = np.zeros((65, 10))
updates = [train(start, client) for client in range(20)]
judged = aggregate(updates)
print(judged.message)
print(judged.reasons[0])

# %%
# Ten rounds. A record carries the evidence from one to the next.

plain, robust, record = start, start, Record()
curves = {"plain mean": [], "inlier": []}
for _ in range(10):
    plain = plain + np.mean([train(plain, client) for client in range(20)], axis=0)
    sent = [train(robust, client) for client in range(20)]
    robust = robust + aggregate(sent, record=record).update
    curves["plain mean"].append(accuracy(plain))
    curves["inlier"].append(accuracy(robust))
print({name: f"{curve[-1]:.1%}" for name, curve in curves.items()})

# %%

figure, (left, right) = plt.subplots(1, 2, figsize=(7.5, 3.2), layout="constrained")
colours = ["#D55E00" if client in judged.rejected else "#0072B2" for client in range(20)]
left.bar(range(20), judged.scores, color=colours)
left.set(xlabel="client", ylabel="distance from the aggregate, in medians")
left.set_title("First round: the orange ones are rejected", fontsize=10)
for name, colour in [("plain mean", "#D55E00"), ("inlier", "#0072B2")]:
    right.plot(range(1, 11), 100 * np.array(curves[name]), color=colour, marker="o", label=name)
right.set(xlabel="round", ylabel="accuracy on new digits, %")
right.legend(frameon=False)
for axes in (left, right):
    axes.spines[["top", "right"]].set_visible(False)
