"""Small data for the experiments, and what their tests share."""

from inlier.datasets import SettingA, SettingB, digits
from inlier.research.reproduce import chapter, pictures, sweeps, tables

FEW = ("iterative-filtering", "paper-lp", "inlier-sigma", "inlier")


def small(kind):
    return lambda n, d, alpha: kind(20 + n // 20, 2 + d // 25, min(alpha, 0.4))


def shrink(patch):
    """Small data, in this process."""
    patch.setattr(chapter, "TIMEOUT", None)
    patch.setattr(tables, "NUMBERS", (1, 6))
    patch.setattr(tables, "QUICK_NUMBERS", (1, 6))
    chosen = {
        1: [tables.PrintedCell(0.2, SettingA(30, 4, 0.2), {"lp": 9.0, "l1": 9.0})],
        6: [tables.PrintedCell(a, SettingB(30, 4, a), {"l1": 9.0, "que": 9.0}) for a in (0.1, 0.2)],
    }
    patch.setattr(tables, "cells", chosen.get)
    kinds = {"Setting A": small(SettingA), "Setting B": small(SettingB)}
    patch.setattr(sweeps, "SETTINGS", kinds)
    patch.setattr(pictures, "faces", lambda: digits(3, 4, 20))


class Watched:
    """How far each stage was at first, and at last."""

    def __init__(self):
        self.first, self.last, self.total = {}, {}, {}

    def __call__(self, stage, done, total):
        self.first.setdefault(stage, done)
        self.last[stage], self.total[stage] = done, total
