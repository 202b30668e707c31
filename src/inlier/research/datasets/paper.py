"""The errors printed in the paper.

Liu, Deshmukh and Veeravalli, "Robust Mean Estimation in High Dimensions via l0 Minimization":
distances between the estimate and the mean of the uncorrupted rows, for the synthetic settings
averaged over 20 trials.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources


@dataclass(frozen=True)
class PrintedTable:
    """One table of the paper."""

    setting: str  # "A" or "B" (see `SettingA`, `SettingB`), or "faces"
    fixed: Mapping[str, float]  # parameters common to all rows, for example {"d": 400, "n": 800}
    vary: str  # the parameter of the rows: "alpha" or "n"
    # errors[value][method], with the value of `vary`; only what is printed.
    errors: Mapping[float, Mapping[str, float]]


def printed_tables() -> dict[str, PrintedTable]:
    """Return all tables of recovery errors in the paper, by name: "table1" to "table6".

    Figures are as printed. One is probably a misprint: 0.069 for lp in table 3 at alpha = 0.1,
    where the text says that lp performs best (0.0069?). Table 5, faces, has a single row: n = 140.

    Examples
    --------
    >>> table = printed_tables()["table1"]
    >>> table.setting, table.fixed, table.vary
    ('A', {'d': 400, 'n': 800}, 'alpha')
    >>> table.errors[0.2]["lp"]
    0.0148
    """
    file = resources.files(__package__).joinpath("paper_tables.json")
    content = json.loads(file.read_text(encoding="utf-8"))
    found = {}
    for name, table in content["tables"].items():
        methods = table.pop("methods", content["methods"])
        number = int if table["vary"] == "n" else float
        table["errors"] = {
            number(value): {m: e for m, e in zip(methods, row, strict=True) if e is not None}
            for value, row in table["errors"].items()
        }
        found[name] = PrintedTable(**table)
    return found
