"""All models of contamination, and two methods that are quick to attack."""

import numpy as np
from sklearn.base import BaseEstimator

from inlier.research.datasets import Gaussian, Laplace, Rotated, Spiked, StudentT


class Median(BaseEstimator):
    """The coordinate-wise median: quick to attack."""

    def __init__(self, shift=0.0):
        self.shift = shift

    def fit(self, X):
        self.location_ = np.median(X, axis=0) + self.shift
        return self


ROWS = [Gaussian(), StudentT(5), StudentT(5, joint=True), Laplace(), Spiked(), Rotated()]


def largest_eigenvalue(rows):
    return np.linalg.norm(rows - rows.mean(axis=0), 2) ** 2 / len(rows)


X, FLAGS = np.zeros((4, 2)), np.arange(4) < 1
