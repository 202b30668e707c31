"""Choice of the columns of a file."""

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from inlier.data.sources.base import close_matches, listed
from inlier.data.sources.content import INDEX, TEXT, Content, Reason, ReasonKind
from inlier.data.sources.location import Location

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
        columns: dict[Reason, list[str]] = {}
        for name, reason in self.left_out.items():
            columns.setdefault(reason, []).append(name)
        # Columns that hold text as they should come first.
        for reason, names in sorted(columns.items(), key=lambda item: item[0] is not TEXT):
            if len(names) == 1:
                notes.append(f"Column {names[0]!r} was left out: {reason.one}.")
            else:
                notes.append(
                    f"{len(names)} columns were left out, because {reason.many}: {listed(names)}."
                )
        if len(notes) > MOST_NOTES:
            total = f"{len(self.left_out)} columns were left out in all."
            notes = [*notes[:SHOWN_NOTES], total]
        return tuple(notes)


def choose_columns(
    content: Content,
    location: Location,
    columns: Names,
    exclude: Names,
    id_column: str | int | None,
    group_by: str | int | None,
    weights: str | int | None = None,
    trusted: str | int | None = None,
) -> ColumnChoice:
    """Choose the columns of numbers that were asked for, or all."""
    names = content.names
    ids = _find_one(id_column, "id_column", names, location)
    groups = _find_one(group_by, "group_by", names, location)
    weighing = _find_one(weights, "weights", names, location)
    checked = _find_one(trusted, "trusted", names, location)
    reasons = dict(enumerate(content.reasons))
    if weighing is not None and (reason := reasons[weighing]) not in (None, INDEX):
        raise ValueError(
            f"weights={weights!r} is a column that is not used as numbers: {reason.one}. Name "
            "another, or correct the file."
        )
    roles = {
        ids: "the id_column",
        groups: "the group_by column",
        weighing: "the weights column",
        checked: "the trusted column",
    }
    for j, role in roles.items():
        if j is not None:
            reasons[j] = Reason(ReasonKind.OTHER, f"it is {role}", f"they are {role}")
    out = {j for name in _sequence(exclude) for j in _find(name, "exclude", names, location)}
    wanted: dict[int, None] = {}  # in the order in which they were asked for
    for name in _sequence(columns):
        found = _find(name, "columns", names, location)
        if not _is_pattern(name, names):
            (exact,) = found
            reason = reasons[exact] = None if reasons[exact] is INDEX else reasons[exact]
            if reason is not None:
                raise ValueError(
                    f"columns={names[exact]!r} is a column that is not used as numbers: "
                    f"{reason.one}. Leave it out, or correct the file."
                )
        wanted |= dict.fromkeys(found)
    if columns is None:
        wanted = dict.fromkeys(range(len(names)))
    wanted = {j: None for j in wanted if j not in out}
    others = {names[j]: reasons[j] for j in wanted if j not in roles}
    left_out = {name: reason for name, reason in others.items() if reason is not None}
    choice = ColumnChoice(
        [j for j in wanted if reasons[j] is None], ids, groups, weighing, checked, left_out
    )
    if not choice.numbers:
        said = "".join(f" {note}" for note in choice.notes)
        raise ValueError(f"{location} has no column of numbers to use.{said}")
    return choice


def _sequence(names: Names) -> Sequence[str | int]:
    if names is None:
        return ()
    return (names,) if isinstance(names, str | int) else names


def _find_one(
    name: str | int | None, argument: str, names: tuple[str, ...], location: Location
) -> int | None:
    if name is None:
        return None
    found = _find(name, argument, names, location)
    if len(found) != 1:
        raise ValueError(
            f"{argument}={name!r} matches {len(found)} columns: "
            f"{listed(names[j] for j in found)}. Name one."
        )
    return found[0]


def _is_pattern(name: str | int, names: tuple[str, ...]) -> bool:
    return isinstance(name, str) and name not in names and any(sign in name for sign in "*?[")


def _find(name: str | int, argument: str, names: tuple[str, ...], location: Location) -> list[int]:
    """Return the numbers of the columns that a name, a number or a pattern stands for."""
    if isinstance(name, str) and name in names:
        return [names.index(name)]
    if isinstance(name, int) or name.isdecimal():
        if 0 <= int(name) < len(names):
            return [int(name)]
        raise ValueError(
            f"{argument}={name!r}: {location} has the columns 0 to {len(names) - 1}, and none of "
            f"that name: {listed(names)}."
        )
    matches = [j for j, other in enumerate(names) if fnmatchcase(other, name)]
    if _is_pattern(name, names) and matches:
        return matches
    raise ValueError(
        f"{argument}={name!r}: there is no such column in {location}."
        f"{close_matches(name, names)} Its columns are {listed(names)}."
    )
