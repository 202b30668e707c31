"""The cells of the paper's synthetic tables."""

from inlier.research.datasets import SettingA, SettingB, printed_tables

SETTINGS = {"A": SettingA, "B": SettingB}
# Above this many numbers a table takes longer to make than to fit: one seed in the fast set.
BIG = 1_000_000


def cells():
    """All printed cells and the same tables at alpha = 0.4, with the paper's lp if printed."""
    found = {}
    for table in printed_tables().values():
        if table.setting not in SETTINGS:
            continue
        for value, errors in table.errors.items():
            cell = dict(table.fixed, **{table.vary: value})
            key = (table.setting, cell["n"], cell["d"], cell["alpha"])
            found[key] = errors.get("lp")
        if table.vary == "alpha":
            found[table.setting, table.fixed["n"], table.fixed["d"], 0.4] = None
    return found


CELLS = cells()


def name_of(cell):
    setting, n, d, alpha = cell
    return f"{setting}-{n}x{d}-{alpha}"
