"""Text that every browser shows and every file holds."""

import re

# No browser shows these characters, and lone surrogates cannot be written to a file.
UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


def printable(text: str) -> str:
    """Replace the characters that cannot be shown."""
    return UNPRINTABLE.sub("\ufffd", text)
