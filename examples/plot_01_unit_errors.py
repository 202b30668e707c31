"""
A table with unit errors
========================

442 patients in ten columns: scikit-learn's diabetes data in their own units. The file below was
made dirty on purpose, in four ways that happen: a decimal point lost, a pressure in kPa instead of
mm Hg, a code for a missing value, and a glucose in mmol/l instead of mg/dl.
"""

from io import StringIO

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.datasets import load_diabetes

import inlier

clean = load_diabetes(as_frame=True, scaled=False).data
rows = np.random.default_rng(0).permutation(len(clean))[:20]
dirty = clean.copy()
dirty.loc[rows[:6], "bmi"] *= 10
dirty.loc[rows[6:14], "bp"] /= 7.5
dirty.loc[rows[14:17], "s1"] = -999
dirty.loc[rows[17:], "s6"] /= 18
table = pd.read_csv(StringIO(dirty.to_csv(index=False)))

# %%
# Nothing has to be said about columns, units or the number of errors.

result = inlier.robust_mean(table)
print(result.message)

# %%
# Extreme cells are set aside, and their rows stay. Each says what would explain its value.

for cell in result.cells[:6]:
    print(cell)

# %%
# All 20 cells are found, and no other; no row is lost. So the mean of each column is nearly that of
# the clean table.

truth, spread = clean.mean(), clean.std()
figure, axes = plt.subplots(figsize=(7.5, 3.4), layout="constrained")
positions = np.arange(len(truth))
for shift, mean, colour, label in [
    (-0.2, table.mean(), "#D55E00", "plain mean"),
    (0.2, result.location, "#0072B2", "inlier"),
]:
    error = np.abs(mean - truth) / spread
    axes.bar(positions + shift, error, 0.4, color=colour, label=label)
axes.set_xticks(positions, truth.index)
axes.set_ylabel("error, in standard deviations")
axes.set_title("The mean of each column, against that of the clean table")
axes.legend(frameon=False)
axes.spines[["top", "right"]].set_visible(False)
found = np.isin([cell.row for cell in result.cells], rows).sum()
print(f"{found} of {len(rows)} bad cells set aside, and {len(result.cells) - found} others")
