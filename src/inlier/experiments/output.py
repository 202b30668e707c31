"""Write a page with all tables and figures, and the records behind them."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from html import escape
from importlib import metadata
from pathlib import Path
from typing import Any

from inlier._internal.atomic import replacing
from inlier._internal.csv_text import writing
from inlier.experiments.chapter import RESULT_COLUMNS, Chapter
from inlier.experiments.style import save

VERSIONS = ("inlier", "numpy", "scipy", "scikit-learn", "matplotlib", "scikit-image")
PAGE, TABLES, RESULTS = "README.md", "tables", "results.csv"
MARKS = "Behind a figure: + better than printed, = in the same band, - worse."
CSS = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; margin: 2rem 0 .5rem; font-variant-numeric: tabular-nums; }
caption { text-align: left; font-weight: 600; padding-bottom: .4rem; }
th, td { padding: .25rem .6rem; border-bottom: 1px solid #8884; vertical-align: bottom; }
td { white-space: nowrap; }
.wide { overflow-x: auto; }
:root { color-scheme: light dark; }
"""


def write(folder: Path, chapters: Sequence[Chapter], how: str) -> list[Path]:
    """Write the page, its figures, the tables in HTML and LaTeX, and the tidy records.

    Parameters
    ----------
    folder : Path
    chapters : sequence of Chapter
    how : str
        The command, in Markdown.
    """
    files = []
    for chapter in chapters:
        for drawing in chapter.drawings:
            files += save(drawing.figure, folder / drawing.name)
    versions = ", ".join(f"{name} {metadata.version(name)}" for name in VERSIONS)
    about = (
        f"{how}, with Python {platform.python_version()}, {versions}. Draws have the seeds 0, 1, "
        "2, ... in all experiments."
    )
    every = [table for chapter in chapters for table in chapter.tables]
    page = "\n\n".join(["# The paper, reproduced", about, *map(_markdown, chapters)])
    contents = {
        PAGE: page + "\n",
        f"{TABLES}.html": _html([table.html() for table in every], about),
        f"{TABLES}.tex": "\n\n".join(table.latex() for table in every) + "\n",
    }
    for name, content in contents.items():
        with replacing(folder / name) as unfinished:
            unfinished.write_text(content, encoding="utf-8")
        files.append(folder / name)
    lines = [line for chapter in chapters for line in chapter.lines]
    return [*files, _write_lines(folder / RESULTS, lines)]


def _markdown(chapter: Chapter) -> str:
    pieces = [f"## {chapter.title}", chapter.text]
    pieces += [f"![{drawing.caption}]({drawing.name}.svg)" for drawing in chapter.drawings]
    pieces += [table.markdown() for table in chapter.tables]
    return "\n\n".join(pieces)


def _html(tables_in_html: Sequence[str], about: str) -> str:
    return "\n".join(
        (
            '<!doctype html>\n<html lang="en">\n<meta charset="utf-8">',
            "<title>The paper, reproduced</title>",
            f"<style>{CSS}</style>",
            f"<h1>The paper, reproduced</h1>\n<p>{escape(about.replace('`', ''))} {MARKS}</p>",
            *(f'<div class="wide">{table}</div>' for table in tables_in_html),
            "</html>\n",
        )
    )


def _write_lines(path: Path, lines: Sequence[dict[str, Any]]) -> Path:
    """Write tidy records: a line for each fit."""
    with writing(path) as out:
        out.writerow(RESULT_COLUMNS)
        out.writerows([line.get(column, "") for column in RESULT_COLUMNS] for line in lines)
    return path
