"""Choice of the columns of a file."""

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from inlier.data.sources.base import close_matches, listed
from inlier.data.sources.content import LABELS, TEXT, Content, Reason

Names = str | int | Sequence[str | int] | None

# Notes about columns that are left out.
MOST_NOTES, SHOWN_NOTES = 10, 5


@dataclass(frozen=True)
class ColumnChoice:
    """Columns by their numbers, and why others are not used."""

    numbers: list[int]
    id_column: int | None
    group_by: int | None
    weights: int | None
    trusted: int | None
    left_out: dict[str, Reason]

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences about columns that are not used: one for each reason."""
        notes = []
        columns: dict[str, list[str]] = {}
        for name, reason in self.left_out.items():
            columns.setdefault(reason.many, []).append(name)
        # Columns that hold text as they should come first.
        for many, names in sorted(columns.items(), key=lambda item: item[0] != TEXT.many):
            if len(names) == 1:
                notes.append(f"Column {names[0]!r} was left out: {self.left_out[names[0]].one}.")
            else:
                notes.append(
                    f"{len(names)} columns were left out, because {many}: {listed(names)}."
                )
        if len(notes) > MOST_NOTES:
            notes = [*notes[:SHOWN_NOTES], f"{len(self.left_out)} columns were left out in all."]
        return tuple(notes)


def choose_columns(
    content: Content,
    columns: Names,
    exclude: Names,
    id_column: str | int | None,
    group_by: str | int | None,
    weights: str | int | None = None,
    trusted: str | int | None = None,
) -> ColumnChoice:
    """Choose the columns of numbers that were asked for, or all."""
    names = content.names
    ids = _find_one(id_column, "id_column", content)
    groups = _find_one(group_by, "group_by", content)
    weighing = _find_one(weights, "weights", content)
    checked = _find_one(trusted, "trusted", content)
    reasons = {j: reason for j, reason in enumerate(content.reasons) if reason is not None}
    if weighing is not None and reasons.get(weighing, LABELS) is not LABELS:
        raise _unusable(f"weights={weights!r}", reasons[weighing], "Name another")
    roles = {
        ids: "the id_column",
        groups: "the group_by column",
        weighing: "the weights column",
        checked: "the trusted column",
    }
    for j, role in roles.items():
        if j is not None:
            reasons[j] = Reason(f"it is {role}", f"they are {role}")
    out = {j for name in _sequence(exclude) for j in _find(name, "exclude", content)}
    wanted: dict[int, None] = {}  # in the order in which they were asked for
    for name in _sequence(columns):
        found = _find(name, "columns", content)
        if not _is_pattern(name, names):
            if reasons.get(found[0]) is LABELS:
                del reasons[found[0]]
            if found[0] in reasons:
                raise _unusable(f"columns={names[found[0]]!r}", reasons[found[0]], "Leave it out")
        wanted |= dict.fromkeys(found)
    if columns is None:
        wanted = dict.fromkeys(range(len(names)))
    wanted = {j: None for j in wanted if j not in out}
    for j in wanted:
        if j in reasons and reasons[j].doubtful:
            raise ValueError(
                f"{content.location}: column {names[j]!r} cannot be read for sure: "
                f"{reasons[j].one}. Give decimal='.' or decimal=',' to say which, or exclude it."
            )
    left_out = {names[j]: reasons[j] for j in wanted if j in reasons and j not in roles}
    if ids is None and content.label is not None and reasons.get(content.label) is not None:
        ids = content.label
        left_out.pop(names[ids], None)
    numbers = [j for j in wanted if j not in reasons]
    choice = ColumnChoice(numbers, ids, groups, weighing, checked, left_out)
    if not choice.numbers:
        said = "".join(f" {note}" for note in choice.notes)
        if any(reason.malformed for reason in left_out.values()):
            said += " na_values=... names markers of missing values."
        raise ValueError(f"{content.location} has no column of numbers to use.{said}")
    return choice


def _unusable(what: str, reason: Reason, advice: str) -> ValueError:
    return ValueError(
        f"{what} is a column that is not used as numbers: {reason.one}. {advice}, or correct the "
        "file."
    )


def _sequence(names: Names) -> Sequence[str | int]:
    if names is None:
        return ()
    return (names,) if isinstance(names, str | int) else names


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
