"""Choice of the columns of a file."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from inlier.data.sources.base import close_matches, listed
from inlier.data.sources.content import Content
from inlier.data.sources.options import LABELS, TEXT, Reason

Names = str | int | Sequence[str | int] | None

# Notes about columns that are left out.
MOST_NOTES, SHOWN_NOTES = 10, 5


@dataclass(frozen=True)
class ColumnChoice:
    """Columns by their numbers, and why others are not used."""

    numbers: list[int]
    roles: dict[str, int | None]
    """The columns that name, group, weight and mark the rows."""
    left_out: dict[str, Reason]

    @property
    def notes(self) -> list[str]:
        """Sentences about columns that are not used: one for each reason."""
        notes = []
        columns: dict[str, list[str]] = {}
        for name, reason in self.left_out.items():
            columns.setdefault(reason.what, []).append(name)
        # Columns that hold text as they should come first.
        for what, names in sorted(columns.items(), key=lambda item: item[0] != TEXT.what):
            if len(names) == 1:
                example = self.left_out[names[0]].example
                notes.append(f"Column {names[0]!r} was left out: it holds {what}{example}.")
            else:
                notes.append(
                    f"{len(names)} columns were left out, because they hold {what}: "
                    f"{listed(names)}."
                )
        if len(notes) > MOST_NOTES:
            notes = [*notes[:SHOWN_NOTES], f"{len(self.left_out)} columns were left out in all."]
        return notes


def choose_columns(
    content: Content, columns: Names, exclude: Names, roles: Mapping[str, str | int | None]
) -> ColumnChoice:
    """Choose the columns of numbers that were asked for, or all but those with a role."""
    names = content.names
    reasons = {j: reason for j, reason in enumerate(content.reasons) if reason is not None}
    found = {role: _find_one(name, role, content) for role, name in roles.items()}
    weights = found["weights"]
    if weights is not None and reasons.get(weights, LABELS) is not LABELS:
        raise _unusable("weights", names[weights], reasons[weights], "Name another")
    reasons |= {j: Reason(f"what is given as {role}") for role, j in found.items() if j is not None}
    out = {j for name in _sequence(exclude) for j in _find(name, "exclude", content)}
    wanted: dict[int, None] = {}  # in the order in which they were asked for
    for name in range(len(names)) if columns is None else _sequence(columns):
        own = _find(name, "columns", content)
        if columns is not None and not _is_pattern(name, names):
            if reasons.get(own[0]) is LABELS:
                del reasons[own[0]]
            if own[0] in reasons:
                raise _unusable("columns", names[own[0]], reasons[own[0]], "Leave it out")
        wanted |= dict.fromkeys(j for j in own if j not in out)
    left_out = {names[j]: reasons[j] for j in wanted if j in reasons and j not in found.values()}
    for name, reason in left_out.items():
        if reason.doubtful:
            raise ValueError(
                f"{content.location}: column {name!r} cannot be read for sure: it holds "
                f"{reason.what}. Give decimal='.' or decimal=',' to say which, or exclude it."
            )
    if found["id_column"] is None and content.label in reasons:
        found["id_column"] = content.label
        left_out.pop(names[content.label], None)
    choice = ColumnChoice([j for j in wanted if j not in reasons], found, left_out)
    if not choice.numbers:
        said = "".join(f" {note}" for note in choice.notes)
        if any(reason.malformed for reason in left_out.values()):
            said += " na_values=... names markers of missing values."
        raise ValueError(f"{content.location} has no column of numbers to use.{said}")
    return choice


def _unusable(argument: str, name: str, reason: Reason, advice: str) -> ValueError:
    return ValueError(
        f"{argument}={name!r} is a column that is not used as numbers: it holds {reason.what}. "
        f"{advice}, or correct the file."
    )


def _sequence(names: Names) -> Sequence[str | int]:
    return (names,) if isinstance(names, str | int) else names or ()


def _find_one(name: str | int | None, argument: str, content: Content) -> int | None:
    if name is None:
        return None
    found = _find(name, argument, content)
    if len(found) != 1:
        raise ValueError(
            f"{argument}={name!r} matches {len(found)} columns: "
            f"{listed(content.names[j] for j in found)}. Name one."
        )
    return found[0]


def _is_pattern(name: str | int, names: tuple[str, ...]) -> bool:
    return isinstance(name, str) and name not in names and any(sign in name for sign in "*?[")


def _find(name: str | int, argument: str, content: Content) -> list[int]:
    """Return the numbers of the columns that a name, a number or a pattern stands for."""
    names = content.names
    if isinstance(name, str) and name in names:
        return [names.index(name)]
    if isinstance(name, int) or name.isdecimal():
        if 0 <= int(name) < len(names):
            return [int(name)]
        raise ValueError(
            f"{argument}={name!r}: {content.location} has the columns 0 to {len(names) - 1}, and "
            f"none of that name: {listed(names)}."
        )
    matches = [j for j, other in enumerate(names) if fnmatchcase(other, name)]
    if _is_pattern(name, names) and matches:
        return matches
    no = "neither such a file nor such a column" if argument == "trusted" else "no such column"
    raise ValueError(
        f"{argument}={name!r}: there is {no} in {content.location}."
        f"{close_matches(name, names)} Its columns are {listed(names)}."
    )
