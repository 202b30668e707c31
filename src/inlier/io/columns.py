"""Which columns of a file are used, and what for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from inlier.io.base import Content, Place, close, listed
from inlier.io.tabular import INDEX, TEXT

Names = str | int | Sequence[str | int] | None


@dataclass(frozen=True)
class ColumnChoice:
    """Columns by their numbers."""

    numbers: list[int]
    id_column: int | None
    group_by: int | None
    notes: tuple[str, ...]


def choose(
    content: Content,
    place: Place,
    columns: Names,
    exclude: Names,
    id_column: str | int | None,
    group_by: str | int | None,
) -> ColumnChoice:
    """The columns of numbers that were asked for, or all; and notes about what is left out."""
    names = content.names
    ids = _one(id_column, "id_column", names, place)
    groups = _one(group_by, "group_by", names, place)
    reasons = dict(enumerate(content.reasons))
    for j, use in ((ids, "the id_column"), (groups, "the group_by column")):
        if j is not None:
            reasons[j] = use
    out = {j for name in _many(exclude) for j in _found(name, "exclude", names, place)}
    wanted: dict[int, None] = {}  # in the order in which they were asked for
    for name in _many(columns):
        found = _found(name, "columns", names, place)
        exact = found[0] if not _is_pattern(name, names) else None
        if exact is not None and reasons[exact] == INDEX:
            reasons[exact] = ""
        if exact is not None and reasons[exact]:
            raise ValueError(
                f"columns names {names[exact]!r}, which is not used as numbers: "
                f"{_because(reasons[exact])}. Leave it out, or mend the file."
            )
        wanted |= dict.fromkeys(found)
    if columns is None:
        wanted = dict.fromkeys(range(len(names)))
    wanted = {j: None for j in wanted if j not in out}
    chosen = [j for j in wanted if not reasons[j]]
    left_out = {j: reasons[j] for j in wanted if reasons[j] and j not in (ids, groups)}
    notes = _notes(names, left_out)
    if not chosen:
        said = f" {' '.join(notes)}" if notes else ""
        raise ValueError(f"{place} has no column of numbers to use.{said}")
    return ColumnChoice(chosen, ids, groups, notes)


def _many(names: Names) -> Sequence[str | int]:
    if names is None:
        return ()
    return (names,) if isinstance(names, str | int) else names


def _one(name: str | int | None, argument: str, names: tuple[str, ...], place: Place) -> int | None:
    if name is None:
        return None
    found = _found(name, argument, names, place)
    if len(found) != 1:
        raise ValueError(
            f"{argument}={name!r} stands for {len(found)} columns: "
            f"{listed(names[j] for j in found)}. Name one."
        )
    return found[0]


def _is_pattern(name: str | int, names: tuple[str, ...]) -> bool:
    return isinstance(name, str) and name not in names and any(sign in name for sign in "*?[")


def _found(name: str | int, argument: str, names: tuple[str, ...], place: Place) -> list[int]:
    """The numbers of the columns that a name, a number or a pattern stands for."""
    if isinstance(name, str) and name in names:
        return [names.index(name)]
    if isinstance(name, int) or name.isdecimal():
        if 0 <= int(name) < len(names):
            return [int(name)]
        raise ValueError(
            f"{argument} names column {name}, but {place} has the columns 0 to {len(names) - 1}, "
            f"and none of that name: {listed(names)}."
        )
    matches = [j for j, other in enumerate(names) if fnmatchcase(other, name)]
    if _is_pattern(name, names) and matches:
        return matches
    raise ValueError(
        f"{argument} names column {name!r}, which is not in {place}.{close(name, names)} Its "
        f"columns are {listed(names)}."
    )


def _because(reason: str, many: bool = False) -> str:
    if reason[0].isdigit():  # how many cells are no numbers
        return f"in each of them {reason}" if many else reason
    verb = ("it is", "they are") if reason.startswith("the ") else ("it holds", "they hold")
    return f"{verb[many]} {reason}"


def _notes(names: tuple[str, ...], left_out: dict[int, str]) -> tuple[str, ...]:
    """Sentences about columns that are not used: one for each kind, or for each strange column."""
    notes = []
    kinds: dict[str, list[str]] = {}
    for j, reason in left_out.items():
        kinds.setdefault(reason, []).append(names[j])
    # Columns that hold text as they should come first.
    for reason, members in sorted(kinds.items(), key=lambda item: item[0] != TEXT):
        if len(members) == 1:
            notes.append(f"Column {members[0]!r} was left out: {_because(reason)}.")
        else:
            notes.append(
                f"{len(members)} columns were left out, because {_because(reason, True)}: "
                f"{listed(members)}."
            )
    if len(notes) > 10:
        notes = [*notes[:5], f"{len(left_out)} columns were left out in all."]
    return tuple(notes)
