"""The snippets of a Markdown page: Python with what it prints, and lines for a shell."""

import re
from dataclasses import dataclass, replace
from pathlib import Path

ROOT = Path(__file__).parents[2]
FENCE = re.compile(r"^```(\S*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Snippet:
    """A block of Python, and what the page says that it prints, if it does."""

    code: str
    printed: str | None
    line: int


def pages() -> list[Path]:
    """The pages that are written by hand; those under docs/results are written by benchmarks."""
    return [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]


def snippets(page: Path) -> list[Snippet]:
    text = page.read_text(encoding="utf-8")
    found: list[Snippet] = []
    for block in FENCE.finditer(text):
        if block[1] == "python":
            found.append(Snippet(block[2], None, text[: block.start()].count("\n") + 1))
        elif block[1] == "text" and found:
            found[-1] = replace(found[-1], printed=block[2])
    return found


def commands(page: Path) -> list[str]:
    """The lines of indented blocks, without comments."""
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    lines = re.findall(r"^    (\S.*)$", text, re.MULTILINE)
    return [line.partition("  #")[0].strip() for line in lines]
