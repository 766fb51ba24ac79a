"""The numbers of ordered lists, which stand in no text."""

from __future__ import annotations

import re
from dataclasses import dataclass

from lxml import etree

from pipeline.manuscript.markup import local_name

_TYPES = {"1": "decimal", "a": "lower-alpha", "A": "upper-alpha", "i": "lower-roman", "I": "upper-roman"}
_UNNUMBERED = frozenset(["none", "disc", "circle", "square", "disclosure-open", "disclosure-closed"])
_ROMAN = ((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl"), (10, "x"),
          (9, "ix"), (5, "v"), (4, "iv"), (1, "i"))  # fmt: skip
_INTEGER = re.compile(r"\s*[+-]?\d{1,9}")


@dataclass(slots=True)
class Numbering:
    """Where an ordered list's count stands. `style` is CSS's `list-style-type`."""

    next_value: int
    step: int
    style: str

    @classmethod
    def of(cls, element: etree._Element, css_style: str) -> Numbering:
        """Of an `ol`, by its attributes and what style sheets say."""
        start = _integer(element.get("start"))
        is_reversed = element.get("reversed") is not None
        if start is None:
            start = sum(local_name(item) == "li" for item in element) if is_reversed else 1
        style = css_style or _TYPES.get(element.get("type") or "", "decimal")
        return cls(start, -1 if is_reversed else 1, style)

    def take(self, item: etree._Element, css_style: str) -> str:
        """The label of the next item, "4" or "iv"; empty where the list shows none."""
        value = _integer(item.get("value"))
        value = self.next_value if value is None else value
        self.next_value = value + self.step
        return label(value, css_style or _TYPES.get(item.get("type") or "", self.style))


def label(value: int, style: str) -> str:
    if style in _UNNUMBERED:
        return ""
    if style in ("lower-alpha", "lower-latin", "upper-alpha", "upper-latin") and value > 0:
        letters = _letters(value)
        return letters.upper() if style.startswith("upper") else letters
    if style in ("lower-roman", "upper-roman") and 0 < value < 4000:
        roman = write_roman(value)
        return roman.upper() if style.startswith("upper") else roman
    return str(value)


def _letters(value: int) -> str:
    letters = ""
    while value:
        value, rest = divmod(value - 1, 26)
        letters = chr(ord("a") + rest) + letters
    return letters


def write_roman(value: int) -> str:
    """A number from 1 to 3999 in small Roman numerals."""
    roman = ""
    for worth, sign in _ROMAN:
        roman += sign * (value // worth)
        value %= worth
    return roman


def _integer(text: str | None) -> int | None:
    found = _INTEGER.match(text or "")
    return int(found[0]) if found else None
