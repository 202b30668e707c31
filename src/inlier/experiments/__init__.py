"""The paper's experiments, and those beyond it, as one command: `reproduce`.

Each of these files is one experiment: `tables`, `figures`, `pictures`, `optimality`, `sweeps`,
`price`, `cost`. What they share: `columns` (the methods, with their colours), `part` (what an
experiment leaves), `verdict` (better, same or worse than printed), `look` (the style of figures).
"""

from inlier.experiments.reproduce import EXPERIMENTS, Reproduction, reproduce

__all__ = ["EXPERIMENTS", "Reproduction", "reproduce"]
