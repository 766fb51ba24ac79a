"""Selectors of style sheets, compiled to tests of elements.

Covered are tags, classes, ids, attributes, `:not()`, `:first-child` and `:last-child`, joined by descendant, child and
sibling combinators.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from cssselect import SelectorError
from cssselect import parse as parse_selectors
from cssselect.parser import Attrib, Class, CombinedSelector, Element, Hash, Negation, Pseudo
from lxml import etree

from pipeline.manuscript.markup import OPS, local_name

_NAMESPACES = {"epub": OPS, "xml": "http://www.w3.org/XML/1998/namespace"}
MAX_SELECTOR_CHARS = 1000

_Test = Callable[[etree._Element], bool]


@dataclass(frozen=True, slots=True)
class Selector:
    """`key` is what its rightmost compound must have: a class (".x"), an id ("#x"), a tag, or anything ("*")."""

    key: str
    compounds: tuple[tuple[str, tuple[_Test, ...]], ...]
    """From right to left, each with the combinator that stands to its right; the first has none."""
    specificity: tuple[int, int, int]


def read_selectors(prelude: str) -> list[Selector]:
    """The selectors of a rule that are covered; none where one of them can't be parsed."""
    if len(prelude) > MAX_SELECTOR_CHARS:
        return []
    try:
        parsed = parse_selectors(prelude)
    except SelectorError:
        return []
    selectors = []
    for selector in parsed:
        compiled = _compile(selector.parsed_tree) if selector.pseudo_element is None else None
        if compiled:
            selectors.append(Selector(compiled[0], tuple(compiled[1]), selector.specificity()))
    return selectors


def _compile(tree: object) -> tuple[str, list[tuple[str, tuple[_Test, ...]]]] | None:
    """The key of the rightmost compound and all compounds; None for a selector that isn't covered."""
    compounds: list[tuple[str, tuple[_Test, ...]]] = []
    combinator, first_key = "", ""
    while True:
        right = tree.subselector if isinstance(tree, CombinedSelector) else tree
        compound = _compile_compound(right)
        if compound is None:
            return None
        first_key = first_key or compound[0]
        compounds.append((combinator, compound[1]))
        if not isinstance(tree, CombinedSelector):
            return first_key, compounds
        combinator, tree = tree.combinator, tree.selector
        if combinator not in (" ", ">", "+", "~"):
            return None


def _compile_compound(tree: object) -> tuple[str, tuple[_Test, ...]] | None:
    tests: list[_Test] = []
    key = "*"
    while not isinstance(tree, Element):
        if isinstance(tree, Class):
            tests.append(_has_word("class", tree.class_name))
            key = "." + tree.class_name
        elif isinstance(tree, Hash):
            tests.append(_has_value("id", tree.id))
            key = "#" + tree.id if not key.startswith(".") else key
        elif isinstance(tree, Attrib):
            tests.append(_attribute_test(tree))
        elif isinstance(tree, Pseudo) and tree.ident == "first-child":
            tests.append(lambda element: next(element.itersiblings("*", preceding=True), None) is None)
        elif isinstance(tree, Pseudo) and tree.ident == "last-child":
            tests.append(lambda element: next(element.itersiblings("*"), None) is None)
        elif isinstance(tree, Negation) and (inner := _compile_compound(tree.subselector)):
            tests.append(lambda element, inner=inner[1]: not all(test(element) for test in inner))  # type: ignore[misc]
        else:
            return None
        tree = tree.selector
    if tree.element:
        name = tree.element.lower()
        tests.append(lambda element: local_name(element) == name)
        key = name if key == "*" else key
    return key, tuple(tests)


def _has_word(name: str, word: str) -> _Test:
    return lambda element: word in (element.get(name) or "").split()


def _has_value(name: str, value: str) -> _Test:
    return lambda element: element.get(name) == value


def _attribute_test(tree: Attrib) -> _Test:
    prefix, name = tree.namespace, tree.attrib
    value = str(tree.value.value) if tree.value is not None else ""

    def get(element: etree._Element) -> str | None:
        if not prefix:
            return element.get(name)
        return element.get(f"{{{_NAMESPACES.get(prefix, prefix)}}}{name}") or element.get(f"{prefix}:{name}")

    def test(element: etree._Element) -> bool:
        found = get(element)
        if found is None or tree.operator == "exists":
            return found is not None
        return {
            "=": found == value,
            "~=": value in found.split(),
            "|=": found == value or found.startswith(value + "-"),
            "^=": bool(value) and found.startswith(value),
            "$=": bool(value) and found.endswith(value),
            "*=": bool(value) and value in found,
        }.get(tree.operator, False)

    return test
