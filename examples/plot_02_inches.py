"""
Rows in the wrong unit
======================

Fisher's irises were measured in centimeters. Here twelve of them, all of one species, were entered
in inches. No single number is far enough out to be set aside; the rows as a whole are removed.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_iris

import inlier

iris = load_iris(as_frame=True).data
in_inches = np.arange(10, 22)
table = iris.copy()
table.loc[in_inches] /= 2.54

result = inlier.robust_mean(table)
print(result.message)
print("removed:", result.outliers)

# %%
# Some of their cells are far out for their column, and would be usual in centimeters. The score of
# a row is split by columns; a column below zero makes the row less suspicious.

print("cells like inches:", sum(cell.slip.like == "inches" for cell in result.cells))
print(result.explain(10))

# %%
# Only the twelve rows are removed; the smaller flowers of the same species stay, and so do the
# other species. Two of the four columns are drawn.

figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
for kept, colour, marker, label in [
    (result.support, "#0072B2", "o", "kept"),
    (~result.support, "#D55E00", "x", "removed"),
]:
    axes.scatter(
        table.loc[kept, "sepal length (cm)"],
        table.loc[kept, "sepal width (cm)"],
        c=colour,
        marker=marker,
        s=26,
        label=f"{label}: {kept.sum()}",
    )
axes.set(xlabel="sepal length", ylabel="sepal width")
axes.legend(frameon=False)
axes.spines[["top", "right"]].set_visible(False)
