"""The paper's experiments, and others, as one command: `reproduce`.

Each experiment is a file: `tables`, `figures`, `pictures`, `optimality`, `sweeps`, `price`, `cost`.
They share `methods` (with labels and colours), `chapter` (the result of an experiment) and `style`
(of figures); `reproduction` writes the files.
"""

from inlier.experiments.reproduction import EXPERIMENTS, Reproduction, reproduce

__all__ = ["EXPERIMENTS", "Reproduction", "reproduce"]
