"""
How far off can the mean be?
============================

Every answer comes with a certificate: a bound on its error that holds for any way of placing the
bad rows. Here we know the truth, and can see how much room the bound leaves.
"""

import matplotlib.pyplot as plt
import numpy as np

import inlier

sample = inlier.datasets.digits(good=0, bad=1).sample(random_state=0)
result = inlier.robust_mean(sample.X, assume="symmetric")
certificate = result.certificate
print(certificate.statement())

# %%
# The certificate can be checked again from the data alone, without trusting the fit.

print(certificate.verify(sample.X))

# %%
# What is assumed is the fraction of bad rows. The more we allow for, the wider the bound; rows that
# were removed count as possibly good. Without rows removed, the bound is that of the plain mean.

alphas = np.linspace(0, 0.45, 100)
plain = inlier.robust_mean(sample.X, assume="nothing")
figure, axes = plt.subplots(figsize=(6.5, 3.6), layout="constrained")
axes.plot(alphas, plain.certificate.error_radius(alphas), c="#D55E00", label="bound, all rows kept")
axes.plot(alphas, certificate.error_radius(alphas), c="#0072B2", label="bound, 60 rows removed")
for mean, colour, label in [
    (sample.X.mean(axis=0), "#D55E00", "error of the plain mean"),
    (result.location, "#0072B2", "error of inlier"),
]:
    distance = np.linalg.norm(mean - sample.mean)
    axes.plot(sample.alpha, distance, "o", color=colour, label=f"{label}: {distance:.2f}")
axes.set(xlabel="fraction of bad rows that is allowed for", ylabel="distance from the true mean")
axes.set_ylim(0, 60)
axes.legend(frameon=False)
axes.spines[["top", "right"]].set_visible(False)
