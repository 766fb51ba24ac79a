"""Roman numerals as numbers."""

from __future__ import annotations

import re

_VALUES = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100, "d": 500, "m": 1000}
_WELL_FORMED = re.compile(r"m{0,3}(?:cm|cd|d?c{0,4})(?:xc|xl|l?x{0,4})(?:ix|iv|v?i{0,4})", re.IGNORECASE)

CAPITALS = "IVXLCDM"
SMALL = "ivxlc"
SINGLE_LETTERS = frozenset("CDLMcdlm")
"""Those that alone are as often letters: (c), Section D."""


def read_roman(written: str) -> int | None:
    """The number, 0 < number < 4000; None where the letters aren't a well-formed numeral. IIII is one."""
    if not written or _WELL_FORMED.fullmatch(written) is None:
        return None
    values = [_VALUES[letter] for letter in written.lower()]
    return sum(-value if value < after else value for value, after in zip(values, [*values[1:], 0], strict=True))
