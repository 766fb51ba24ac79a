"""What style sheets say of text that is heard: whether it shows, stands in a block of its own, and how lists count.

Specificity, order and `!important` are heeded. Rules with a selector that isn't covered (see `selectors`), and rules
for other media than the screen or with conditions (`@media (min-width: …)`, `@supports`), are passed over: what they
hide is read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import NamedTuple

import tinycss2
from lxml import etree

from pipeline.manuscript.markup import local_name
from pipeline.manuscript.selectors import MAX_SELECTOR_CHARS, Selector, read_selectors

_PROPERTIES = ("display", "visibility", "float", "list-style")
_SCREEN = frozenset(["", "all", "screen", "only screen", "only all", "not print"])
_LONG_NUMBER = re.compile(r"\d{1000,}")
"""Python makes no number of more than 4300 digits, nor does a browser."""
_MAX_SHEET_CHARS = 400_000
_MAX_IMPORTS = 8
_MAX_TESTS = 1_000_000

Load = Callable[[str], tuple[str, str] | None]
"""From an href to what names the sheet, and its text; None where there is none."""


class Look(NamedTuple):
    """How an element shows. `display`, `list_style` and `visibility` are empty where nothing is said.

    What is hidden hides all within it; what isn't visible only what doesn't say otherwise.
    """

    is_hidden: bool = False
    display: str = ""
    list_style: str = ""
    visibility: str = ""
    floats: bool = False


_PLAIN = Look()


@dataclass(frozen=True, slots=True)
class Rule:
    selector: Selector
    declarations: tuple[tuple[str, str, bool], ...]
    """Property, value in lower case, and whether it is `!important`."""


@dataclass(slots=True)
class Styles:
    """The rules of all sheets of a document, in order."""

    num_tests_left: int = _MAX_TESTS
    """So many compounds are held against elements; what style sheets of an absurd size hide is read."""
    _by_key: dict[str, list[tuple[int, Rule]]] = field(default_factory=dict)
    _inline: dict[str, tuple[tuple[str, str, bool], ...]] = field(default_factory=dict)

    @classmethod
    def of(cls, sheets: Iterable[Sequence[Rule]]) -> Styles:
        styles = cls()
        rules = (rule for sheet in sheets for rule in sheet)
        for order, rule in enumerate(rules):
            styles._by_key.setdefault(rule.selector.key, []).append((order, rule))
        return styles

    def look(self, element: etree._Element, tag: str) -> Look:
        style = element.get("style")
        inline = self._read_inline(style) if style else ()
        if not self._by_key and not inline:
            return _PLAIN
        keys = ["*", tag, *("." + name for name in (element.get("class") or "").split())]
        if name := element.get("id"):
            keys.append("#" + name)
        best: dict[str, tuple[tuple[bool, bool, tuple[int, int, int], int], str]] = {}
        for key in dict.fromkeys(keys) if self.num_tests_left > 0 else ():
            for order, rule in self._by_key.get(key, ()):
                if self.num_tests_left > 0 and self._matches(rule.selector, element):
                    for name, value, is_important in rule.declarations:
                        _offer(best, name, value, (is_important, False, rule.selector.specificity, order))
        for name, value, is_important in inline:
            _offer(best, name, value, (is_important, True, (0, 0, 0), 0))
        return _look({name: value for name, (_, value) in best.items()}) if best else _PLAIN

    def show_within(self, element: etree._Element) -> bool:
        """Whether something in an element that isn't visible itself is visible all the same."""
        return any(
            self.look(inner, local_name(inner)).visibility == "visible" for inner in element.iterdescendants("*")
        )

    def _matches(self, selector: Selector, element: etree._Element) -> bool:
        """From right to left, with all elements a compound may stand for at once: linear in depth and compounds."""
        current = [element]
        for combinator, tests in selector.compounds:
            if combinator == " ":
                current = list(
                    current[0].iterancestors()
                )  # the deepest comes first, and has all ancestors of the others
            elif combinator == ">":
                current = [parent for node in current if (parent := node.getparent()) is not None]
            elif combinator == "+":
                current = [
                    previous
                    for node in current
                    if (previous := next(node.itersiblings("*", preceding=True), None)) is not None
                ]
            elif combinator == "~":
                before = (previous for node in current for previous in node.itersiblings("*", preceding=True))
                current = list(dict.fromkeys(islice(before, max(0, self.num_tests_left))))
            self.num_tests_left -= len(current)
            current = [node for node in current if all(test(node) for test in tests)]
            if not current:
                return False
        return True

    def _read_inline(self, style: str) -> tuple[tuple[str, str, bool], ...]:
        if style not in self._inline:
            is_telling = len(style) <= MAX_SELECTOR_CHARS and any(name in style.lower() for name in _PROPERTIES)
            nodes = (
                tinycss2.parse_blocks_contents(_LONG_NUMBER.sub("0", style), skip_comments=True, skip_whitespace=True)
                if is_telling
                else []
            )
            self._inline[style] = _declarations(nodes)
        return self._inline[style]


def _offer(
    best: dict[str, tuple[tuple[bool, bool, tuple[int, int, int], int], str]],
    name: str,
    value: str,
    weight: tuple[bool, bool, tuple[int, int, int], int],
) -> None:
    if name not in best or weight >= best[name][0]:
        best[name] = (weight, value)


def _look(values: dict[str, str]) -> Look:
    display = values.get("display", "")
    is_hidden = display == "none"
    floats = values.get("float", "none") != "none"
    if floats and not is_hidden:
        display = ""  # a drop cap is a floating block
    return Look(is_hidden, display, values.get("list-style", ""), values.get("visibility", ""), floats)


def read_sheet(css: str, load: Load | None = None, num_imports: int = 0) -> list[Rule]:
    """The rules of a sheet, and of those that it imports, that say anything of what is heard."""
    lowered = css.lower() if len(css) <= _MAX_SHEET_CHARS else ""
    if not any(name in lowered for name in (*_PROPERTIES, "@import")):
        return []
    rules: list[Rule] = []
    css = _LONG_NUMBER.sub("0", css)
    _read_rules(tinycss2.parse_stylesheet(css, skip_comments=True, skip_whitespace=True), rules, load, num_imports)
    return rules


def shows_on_screen(media: str) -> bool:
    """Whether a media query holds for a screen whatever its size."""
    return any(" ".join(query.split()).lower() in _SCREEN for query in media.split(","))


def _read_rules(nodes: Iterable[tinycss2.ast.Node], rules: list[Rule], load: Load | None, num_imports: int) -> None:
    for node in nodes:
        if node.type == "qualified-rule":
            contents = tinycss2.parse_blocks_contents(node.content, skip_comments=True, skip_whitespace=True)
            if declarations := _declarations(contents):
                selectors = read_selectors(tinycss2.serialize(node.prelude).strip())
                rules += [Rule(selector, declarations) for selector in selectors]
        elif node.type == "at-rule" and node.lower_at_keyword == "media" and node.content is not None:
            if shows_on_screen(tinycss2.serialize(node.prelude)):
                inner = tinycss2.parse_rule_list(node.content, skip_comments=True, skip_whitespace=True)
                _read_rules(inner, rules, load, num_imports)
        elif node.type == "at-rule" and node.lower_at_keyword == "import" and load and num_imports < _MAX_IMPORTS:
            rules += _import(node, load, num_imports)


def _import(node: tinycss2.ast.AtRule, load: Load, num_imports: int) -> list[Rule]:
    tokens = [token for token in node.prelude if token.type not in ("whitespace", "comment")]
    if not tokens or not shows_on_screen(tinycss2.serialize(tokens[1:])):
        return []
    target = tokens[0]
    if target.type == "function" and target.arguments:
        target = target.arguments[0]
    loaded = load(target.value) if target.type in ("url", "string") else None
    return read_sheet(loaded[1], load, num_imports + 1) if loaded else []


def _declarations(nodes: Iterable[tinycss2.ast.Node]) -> tuple[tuple[str, str, bool], ...]:
    found = []
    for node in nodes:
        if node.type != "declaration" or not node.lower_name.startswith(_PROPERTIES):
            continue
        words = tinycss2.serialize(node.value).lower().split()
        name = node.lower_name
        if name.startswith("list-style"):
            words = [word for word in words if word not in ("inside", "outside") and not word.startswith("url(")]
            name = "list-style" if name in ("list-style", "list-style-type") else ""
        if name in _PROPERTIES and words:
            found.append((name, words[0], node.important))
    return tuple(found)


class Wardrobe:
    """The style sheets of a book, each read once. `load` finds the sheet that an href in a file means."""

    def __init__(self, load: Callable[[str, str], tuple[str, str] | None] | None = None) -> None:
        self._load = load
        self._sheets: dict[str, list[Rule]] = {}
        self._styles: dict[tuple[str, ...], Styles] = {}

    def styles_of(self, root: etree._Element, file: str) -> Styles:
        """The rules of the sheets that a file links and holds, in its order."""
        names: list[str] = []
        for element in root.iter("{*}link", "{*}style"):
            if not shows_on_screen(element.get("media") or ""):
                continue
            if local_name(element) == "style":
                names.append(str(element.xpath("string()")))
                self._read(names[-1], names[-1], file)
            elif (element.get("rel") or "").lower().split() == ["stylesheet"]:
                loaded = self._load_for(file)(element.get("href") or "")
                if loaded:
                    names.append(loaded[0])
                    self._read(*loaded, loaded[0])
        key = tuple(names)
        if key not in self._styles:
            self._styles[key] = Styles.of(self._sheets[name] for name in names)
        self._styles[key].num_tests_left = _MAX_TESTS
        return self._styles[key]

    def _read(self, name: str, css: str, base: str) -> None:
        if name not in self._sheets:
            self._sheets[name] = read_sheet(css, self._load_for(base))

    def _load_for(self, base: str) -> Load:
        load = self._load
        return (lambda href: load(base, href)) if load else (lambda href: None)
