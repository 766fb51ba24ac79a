"""What the styles and the numbering of a Word document say of a paragraph: heading, list label, hidden text."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field

from lxml import etree

from pipeline.manuscript.lists import write_roman
from pipeline.manuscript.markup import local_name

_HEADING = re.compile(r"heading\s*([1-9])")
_NOT_WORD = re.compile(r"[^\w]+")
_NO_HEADING = 9
"""An outline level of 10 (counted from 0 in the file) is body text."""
_MAX_DEPTH = 20


def attribute(element: etree._Element, name: str) -> str:
    """An attribute's value whatever its namespace; empty where there is none."""
    for key, value in element.attrib.items():
        if str(key).rpartition("}")[2] == name:
            return str(value)
    return ""


def child(element: etree._Element | None, *names: str) -> etree._Element | None:
    """The first child of the first child … of these names, in lower case."""
    for name in names:
        if element is None:
            return None
        element = next((inner for inner in element if local_name(inner) == name), None)
    return element


def value(element: etree._Element | None, *names: str) -> str:
    """The `w:val` of a descendant; empty where it is missing."""
    found = child(element, *names)
    return attribute(found, "val") if found is not None else ""


def is_on(element: etree._Element | None, name: str) -> bool | None:
    """A switch such as `w:vanish`; None where it isn't set."""
    found = child(element, name)
    return None if found is None else attribute(found, "val").lower() not in ("0", "false", "off", "none")


@dataclass(frozen=True, slots=True)
class Style:
    """A paragraph or character style with all that it inherits. `level` is a heading's, from 1, or 0."""

    name: str = ""
    level: int = 0
    is_hidden: bool = False
    numbering: tuple[str, int] = ("", 0)
    """Id of the list and the level in it, from 0."""

    @property
    def slug(self) -> str:
        """The name as a class of a web page."""
        return _NOT_WORD.sub("-", self.name).strip("-")


class StyleSheet:
    """The styles of `styles.xml` by their ids, and the language that they default to."""

    def __init__(self, root: etree._Element | None) -> None:
        elements = [element for element in root if local_name(element) == "style"] if root is not None else []
        self._elements = {attribute(element, "styleId"): element for element in elements}
        self._styles: dict[str, Style] = {}
        self.default = next(
            (attribute(element, "styleId") for element in elements if _is_default_paragraph(element)), ""
        )
        self.language = value(child(root, "docdefaults", "rprdefault", "rpr"), "lang")

    def get(self, style_id: str) -> Style:
        if style_id not in self._styles:
            self._styles[style_id] = self._resolve(style_id)
        return self._styles[style_id]

    def _resolve(self, style_id: str) -> Style:
        chain: list[etree._Element] = []
        name = style_id
        while (element := self._elements.get(name)) is not None and len(chain) < _MAX_DEPTH:
            chain.append(element)
            name = value(element, "basedon")
        names = [value(element, "name").lower() for element in chain] or [style_id.lower()]
        level = next((found for part in zip(names, chain, strict=False) if (found := _level_of(*part)) is not None), 0)
        hidden = next((on for element in chain if (on := is_on(child(element, "rpr"), "vanish")) is not None), False)
        properties = [child(element, "ppr") for element in chain]
        list_id = next((said for part in properties if (said := value(part, "numpr", "numid"))), "")
        list_level = next((said for part in properties if (said := value(part, "numpr", "ilvl"))), "0")
        if not chain and (named := _HEADING.fullmatch(style_id.lower())):
            level = int(named[1])
        return Style(names[0], level, hidden, (list_id, int(list_level) if list_level.isdecimal() else 0))


def _is_default_paragraph(element: etree._Element) -> bool:
    return attribute(element, "type") == "paragraph" and attribute(element, "default") in ("1", "true", "on")


def _level_of(name: str, element: etree._Element) -> int | None:
    """The level of headings of a style by its name or outline level; 0 for body text, None when it doesn't say."""
    outline = outline_level(child(element, "ppr"))
    if outline is not None:
        return outline
    found = _HEADING.fullmatch(name)
    return int(found[1]) if found else None


def outline_level(properties: etree._Element | None) -> int | None:
    found = value(properties, "outlinelvl")
    if not found.isdecimal():
        return None
    return 0 if int(found) >= _NO_HEADING else int(found) + 1


@dataclass(slots=True)
class _Level:
    start: int = 1
    form: str = "decimal"
    text: str = ""
    is_legal: bool = False
    restart: int | None = None
    style: str = ""


@dataclass(slots=True)
class _List:
    levels: dict[int, _Level] = field(default_factory=dict)
    abstract: str = ""


class Numbering:
    """The lists of `numbering.xml`, counted along as the document's paragraphs come."""

    def __init__(self, root: etree._Element | None) -> None:
        self._lists: dict[str, _List] = {}
        self._counts: dict[str, dict[int, int]] = defaultdict(dict)
        if root is None:
            return
        abstract = {attribute(e, "abstractNumId"): e for e in root if local_name(e) == "abstractnum"}
        by_style = {value(e, "stylelink"): key for key, e in abstract.items() if value(e, "stylelink")}
        for element in root:
            if local_name(element) != "num":
                continue
            key = value(element, "abstractnumid")
            found = abstract.get(key)
            linked = value(found, "numstylelink")
            if linked in by_style:
                key = by_style[linked]
                found = abstract.get(key)
            one = _List(_read_levels(found), key)
            for override in element:
                if local_name(override) == "lvloverride":
                    self._override(one, override, attribute(element, "numId"))
            self._lists[attribute(element, "numId")] = one

    def _override(self, one: _List, override: etree._Element, list_id: str) -> None:
        number = attribute(override, "ilvl")
        index = int(number) if number.isdecimal() else 0
        own = child(override, "lvl")
        if own is not None:
            one.levels[index] = _read_level(own)
        start = value(override, "startoverride")
        if start.isdecimal():
            level = one.levels.get(index, _Level())
            one.levels[index] = _Level(int(start), level.form, level.text, level.is_legal, level.restart, level.style)
            one.abstract = f"{one.abstract}/{list_id}"  # counted for itself

    def level_of_style(self, list_id: str, style_id: str) -> int | None:
        """The level of a list that belongs to a paragraph style."""
        one = self._lists.get(list_id)
        levels = one.levels.items() if one else ()
        return next((index for index, level in levels if level.style == style_id), None)

    def is_list(self, list_id: str) -> bool:
        return list_id in self._lists

    def count(self, list_id: str, index: int) -> str:
        """The label of the next paragraph of a list's level, such as "3." or "b."; empty for a bullet."""
        one = self._lists.get(list_id)
        if one is None:
            return ""
        level = one.levels.get(index, _Level())
        counts = self._counts[one.abstract]
        counts[index] = counts.get(index, level.start - 1) + 1
        for deeper in [other for other in counts if other > index]:
            restart = one.levels.get(deeper, _Level()).restart
            if restart is None or (restart != 0 and index < restart):
                del counts[deeper]
        if level.form in ("bullet", "none") or not level.text:
            return ""

        def shown(match: re.Match[str]) -> str:
            place = int(match[1]) - 1
            other = one.levels.get(place, _Level())
            return write_number(counts.get(place, other.start), "decimal" if level.is_legal else other.form)

        label = re.sub(r"%([1-9])", shown, level.text).strip()
        plain = re.fullmatch(r"[(\[]?(\w+)[)\].:]*", label)
        return f"{plain[1]}." if plain else label


def _read_levels(element: etree._Element | None) -> dict[int, _Level]:
    levels = {}
    for level in element if element is not None else ():
        number = attribute(level, "ilvl")
        if local_name(level) == "lvl" and number.isdecimal():
            levels[int(number)] = _read_level(level)
    return levels


def _read_level(element: etree._Element) -> _Level:
    start, restart = value(element, "start"), value(element, "lvlrestart")
    return _Level(
        int(start) if start.isdecimal() else 1,
        value(element, "numfmt") or "decimal",
        value(element, "lvltext"),
        is_on(element, "islgl") or False,
        int(restart) if restart.isdecimal() else None,
        value(element, "pstyle"),
    )


def write_number(number: int, form: str) -> str:
    """A number in one of Word's forms; in figures where we don't know the form."""
    if form in ("lowerLetter", "upperLetter") and 0 < number <= 780:
        letter = chr(ord("a") + (number - 1) % 26) * ((number - 1) // 26 + 1)
        return letter if form == "lowerLetter" else letter.upper()
    if form in ("lowerRoman", "upperRoman") and 0 < number < 4000:
        roman = write_roman(number)
        return roman if form == "lowerRoman" else roman.upper()
    return f"{number:02}" if form == "decimalZero" else str(number)
