"""The paper's experiments, and others, as one command: `reproduce`.

Each experiment is a file: `tables`, `figures`, `pictures`, `optimality`, `sweeps`, `price`, `cost`.
They share `methods` (with labels and colours), `chapter` (the result of an experiment), `verdict`
(better, same or worse than printed), `style` (of figures) and `output` (the files written).
"""

from inlier.experiments.reproduction import EXPERIMENTS, Reproduction, reproduce

__all__ = ["EXPERIMENTS", "Reproduction", "reproduce"]
