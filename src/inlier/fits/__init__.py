"""Robust fits of models: rows whose gradients or losses do not belong to the others leave."""

from inlier.fits.robust_fit import RobustFit
from inlier.fits.torch_modules import torch_gradients

__all__ = ["RobustFit", "torch_gradients"]
