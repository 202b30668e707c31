"""The results of a comparison: a record for each fit, and a summary for each method."""

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.linalg import norm  # does not overflow

from inlier._internal.optional import optional

# Distances below this fraction of the lengths are rounding error.
ROUNDING = 1e-13

TO_OTHERS = (
    'The true mean is unknown. "to others" is the median distance to the estimates of the other '
    "methods, in units of the data: being near them does not mean being right."
)

# The heads of the columns of `Comparison.summary` that are printed, and how.
WITH_TRUTH = {"error": "error", "error_se": "± se", "worst": "worst", "exact": "exact"}
WITHOUT_TRUTH = {"distance": "to others"}
COST = {"seconds": "seconds", "passes": "passes", "removed": "removed"}


@dataclass(frozen=True, eq=False)
class Comparison:
    """Methods compared on the same data.

    Attributes
    ----------
    records : pandas.DataFrame
        A line for each trial and method, in this order. `method`; `trial`, counted from 0: all
        methods of a trial have the same rows; `seed` of the draw, missing for a fixed table;
        `status`, "ok", "timeout" or "failed"; `error`, the distance to the true mean, 0 if it is
        rounding error; `exact`, whether exactly the bad rows were removed; `removed`, the number of
        rows, missing if the method does not classify rows; `passes` over the data, if the method
        counts them; `seconds` of `fit` on one thread, also if it timed out or failed; `message`,
        the exception or the warnings of the fit; `location`, the estimate.
    data : str
        Description of the data.
    note : str
        Parameters given to the methods, and other remarks.
    truth_known : bool
        Whether the true mean is known.
    """

    records: Any = field(repr=False)
    data: str
    note: str = ""
    truth_known: bool = True

    @property
    def methods(self) -> list[str]:
        """Names of the methods, in the given order."""
        return list(self.records["method"].unique())

    def summary(self) -> Any:
        """Return a data frame with a line for each method, the smallest mean error first.

        The columns are the mean `error`, its standard error `error_se` and the `worst` one, the
        number of trials with an `exact` set, the medians of `seconds`, `passes` and `removed`, and
        the numbers of `trials`, of `failures` (trials without an estimate) and of those that were
        `timeouts`. What is unknown is nan. If the true mean is unknown, there is `distance`, the
        median of those to the estimates of the other methods, and the smallest comes first.
        Methods without an estimate come last.
        """
        status = self.records.groupby("method")["status"]
        answered = self.records[self.records["status"] == "ok"].groupby("method")
        found = answered[["seconds", "passes", "removed"]].median()
        found["error"], found["error_se"] = answered["error"].mean(), answered["error"].sem()
        found["worst"] = answered["error"].max()
        found["exact"] = answered["exact"].sum(min_count=1)
        found = found.reindex(self.methods).astype(float)
        found["trials"] = status.size()
        found["failures"] = status.agg(lambda column: (column != "ok").sum())
        found["timeouts"] = status.agg(lambda column: (column == "timeout").sum())
        if self.truth_known:
            return found.sort_values(["error", "seconds"])
        apart = self.distances()
        found["distance"] = apart.mask(np.eye(len(apart), dtype=bool)).median(axis=1)
        return found.sort_values(["distance", "seconds"])

    def distances(self) -> Any:
        """Return the distances between the methods' estimates, a data frame of all pairs.

        They are means over the trials in which both have an estimate, in units of the data, 0 if
        they are rounding error; nan without such a trial.
        """
        pandas = optional("pandas", "To compare methods", "research")
        total = count = pandas.DataFrame(0.0, self.methods, self.methods)
        answered = self.records[self.records["status"] == "ok"]
        for _, trial in answered.groupby("trial"):
            names, rows = trial["method"], list(trial["location"])
            lengths = np.array([norm(row) for row in rows])
            apart = np.array([[norm(row - other) for other in rows] for row in rows])
            apart[apart <= ROUNDING * np.minimum.outer(lengths, lengths)] = 0.0
            found = pandas.DataFrame(apart, names, names)
            total = total.add(found, fill_value=0.0)
            count = count.add(found.notna().astype(float), fill_value=0.0)
        return (total / count).loc[self.methods, self.methods]

    def __str__(self) -> str:
        summary, trials = self.summary(), self.records["trial"].nunique()
        heads = (WITH_TRUTH if self.truth_known else WITHOUT_TRUTH) | COST
        shown = summary[list(heads)].map(_number)
        shown[["passes", "removed"]] = summary[["passes", "removed"]].map(_number, form="g")
        answered = summary["trials"] - summary["failures"]
        if self.truth_known:
            exact = summary["exact"].map(_number, form="g") + "/" + answered.map(str)
            shown["exact"] = exact.where(summary["exact"].notna(), "-")
        if summary["failures"].any():
            shown["failures"] = summary["failures"].map(str) + "/" + summary["trials"].map(str)
        title = f"{self.data}, {trials} trials" if trials > 1 else self.data
        table = shown.rename(columns=heads).reset_index().to_string(index=False)
        about = "" if self.truth_known else TO_OTHERS
        parts = [title, table, about, self._remarks(), self.note]
        return "\n\n".join(part for part in parts if part)

    def _remarks(self) -> str:
        """Return the first failure and the first warning of each method, and their numbers."""
        lines = []
        for method, records in self.records.groupby("method", sort=False):
            ok = records["status"] == "ok"
            warned = records[ok & (records["message"] != "")]
            for what, found in (("no answer", records[~ok]), ("warning", warned)):
                if len(found):
                    many = f" in {len(found)} of {len(records)} trials" if len(records) > 1 else ""
                    lines.append(f"{method}: {what}{many}: {found['message'].iloc[0]}")
        return "\n".join(lines)


def _number(value: float, form: str = ".3g") -> str:
    return "-" if math.isnan(value) else f"{value:{form}}"
