"""Footnotes and endnotes: which links are their marks, and which elements their bodies, over all files of a book.

A body is what a book says is one (its type, role or class), or what a mark points at and is surely one: it links back,
begins with the mark's own label, or stands in a list of notes. What is only pointed at is read on.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from lxml import etree

from pipeline.manuscript.left_out import (
    BLOCKS,
    HEADING_TAGS,
    MARK,
    is_note_body,
    is_note_container,
    is_note_mark,
    visible_text,
)
from pipeline.manuscript.markup import local_name, types_of
from pipeline.manuscript.note_shapes import (
    BACK_LABELS,
    are_labels,
    begins_block,
    has_blocks,
    is_first_in_item,
    is_named_note,
    names_at,
)

Resolve = Callable[[str, str], tuple[str, str] | None]
"""From a file and an href in it to the file and fragment it means; None when it leads outside."""
_Target = tuple[str, str]

_NOTES_TITLE = re.compile(r"(?:foot|end)?\s?notes?(?: (?:to|on) .{1,60})?[.:]?", re.IGNORECASE)
_CONTAINERS = frozenset(["body", "html", "section", "article", "main", "ol", "ul", "dl", "table", "tbody"])
_MAX_LABEL_CHARS = 12
_MIN_NOTE_CHARS = 3
_MAX_LINKS_BACK = 20


@dataclass(slots=True)
class Notes:
    """Marks and bodies by element. A body's key names it; a mark whose note isn't known has an empty key."""

    marks: dict[etree._Element, str] = field(default_factory=dict)
    bodies: dict[etree._Element, str] = field(default_factory=dict)
    containers: set[etree._Element] = field(default_factory=set)
    """Elements in which all is notes and their headings."""
    labels: set[etree._Element] = field(default_factory=set)
    """Links in a body that lead back to its mark."""
    texts: dict[str, str] = field(default_factory=dict)
    """The text of the mark of each body that has one: "3"."""


def find_notes(trees: Mapping[str, etree._Element], resolve: Resolve) -> Notes:
    """Find all notes in the files of a book, by name. Linear in their size."""
    return _Finder(trees, resolve).find()


@dataclass(slots=True)
class _Candidate:
    file: str
    link: etree._Element
    text: str
    target: _Target
    is_sure: bool


class _Finder:
    def __init__(self, trees: Mapping[str, etree._Element], resolve: Resolve) -> None:
        self._trees = trees
        self._resolve = resolve
        self._notes = Notes()
        self._elements: dict[_Target, etree._Element] = {}
        self._prose_chars: dict[etree._Element, int] = {}
        self._back_links: dict[etree._Element, dict[_Target, list[etree._Element]]] = {}
        self._texts: dict[etree._Element, str] = {}
        self._sure: set[etree._Element] = set()

    def find(self) -> Notes:
        candidates = self._find_candidates()
        self._find_targets({candidate.target for candidate in candidates})
        self._find_typed_bodies()
        bodies = [(candidate, self._body_of(candidate)) for candidate in candidates]
        self._settle_containers(
            [body for candidate, body in bodies if body is not None and self._leads(candidate, body)]
        )
        for candidate, body in bodies:
            self._judge(candidate, body)
        self._find_remaining()
        return self._notes

    def _find_candidates(self) -> list[_Candidate]:
        candidates = []
        for file, root in self._trees.items():
            for link in root.iter("{*}a"):
                href = link.get("href")
                if not href:
                    continue
                is_typed = "noteref" in types_of(link)
                text = visible_text(link)[0] if is_typed or len(link) < 5 else ""
                if not is_typed and not (len(text) <= _MAX_LABEL_CHARS and MARK.fullmatch(text)):
                    continue
                if not is_typed and begins_block(link):
                    continue
                target = self._resolve(file, href) or ("", "")
                candidates.append(_Candidate(file, link, text, target, is_typed or is_note_mark(link)))
        return candidates

    def _find_targets(self, wanted: set[_Target]) -> None:
        for file, root in self._trees.items():
            names = {fragment for target, fragment in wanted if target == file and fragment}
            if not names:
                continue
            for element in root.iter("*"):
                name = element.get("id")
                if name in names:
                    self._elements.setdefault((file, name), element)
                name = element.get("name")
                if name in names and local_name(element) == "a":
                    self._elements.setdefault((file, name), element)

    def _find_typed_bodies(self) -> None:
        for file, root in self._trees.items():
            for element in root.iter("*"):
                if not element.attrib:
                    continue
                tag, types = local_name(element), types_of(element)
                if is_note_container(element, tag, types):
                    self._notes.containers.add(element)
                elif is_note_body(element, tag, types):
                    self._sure.add(element)
                    self._notes.bodies[element] = f"{file}#{len(self._notes.bodies)}"

    def _body_of(self, candidate: _Candidate) -> etree._Element | None:
        """What the link points at, as the block that would be the note; None when there is no such thing."""
        target = self._elements.get(candidate.target)
        if target is None:
            return None
        for element in (target, *target.iterancestors()):
            if element in self._sure:
                return element
            if local_name(element) in HEADING_TAGS:
                return None
        if local_name(target) not in BLOCKS and not begins_block(target):
            return None  # a place within a paragraph, such as the mark that a note leads back to
        block = target
        while local_name(block) not in BLOCKS and block.getparent() is not None:
            block = block.getparent()  # type: ignore[assignment]
        if block is not target and local_name(block) in _CONTAINERS | {"div"} and has_blocks(block):
            block = next((item for item in target.itersiblings("*") if local_name(item) in BLOCKS), block)
        elif local_name(block) == "p" and is_first_in_item(block):
            block = block.getparent()  # type: ignore[assignment]
        if local_name(block) in ("td", "th") and (parent := block.getparent()) is not None:
            block = parent
        if (around := block.getparent()) is not None and is_named_note(around, block):
            block = around
        if local_name(block) in _CONTAINERS or local_name(block) in HEADING_TAGS:
            return None
        is_around = any(block is ancestor for ancestor in candidate.link.iterancestors())
        return None if is_around else block

    def _judge(self, candidate: _Candidate, body: etree._Element | None) -> None:
        links = self._links_back(candidate, body)
        if not candidate.is_sure:
            target = self._elements.get(candidate.target)
            is_label = are_labels(links, candidate.link, candidate.text)
            is_mark = target is not None and is_label and self._is_in_prose(candidate.link)
            if not is_mark or body is None or not self._says_something(body, links):
                return
        elif body is None and candidate.target in self._elements and "noteref" not in types_of(candidate.link):
            target = self._elements[candidate.target]
            if any(local_name(item) in HEADING_TAGS for item in (target, *target.iterancestors())):
                return  # a raised number that leads to a chapter
        if candidate.link in self._notes.labels:
            return
        key = ""
        if body is not None and (links or body in self._sure or self._is_surely_a_note(body, candidate.text)):
            key = self._notes.bodies.setdefault(body, f"{candidate.file}#{len(self._notes.bodies)}")
            self._sure.add(body)
            self._add_definitions(body, key)
            self._notes.labels.update(links)
            self._notes.texts.setdefault(key, candidate.text)
        self._notes.marks[candidate.link] = key

    def _add_definitions(self, body: etree._Element, key: str) -> None:
        """What a term that is a note's label stands for."""
        for item in body.itersiblings("*") if local_name(body) == "dt" else ():
            if local_name(item) != "dd":
                break
            self._notes.bodies[item] = key

    def _links_back(self, candidate: _Candidate, body: etree._Element | None) -> list[etree._Element]:
        """The links of a body that lead to its mark."""
        if body is None:
            return []
        if body not in self._back_links:
            file = candidate.target[0]
            found: dict[_Target, list[etree._Element]] = {}
            for link in body.iter("{*}a"):
                target = self._resolve(file, link.get("href") or "") if link.get("href") else None
                if target:
                    found.setdefault(target, []).append(link)
            self._back_links[body] = found
        own = self._back_links[body]
        if not own:
            return []
        names = names_at(candidate.link)
        links = [link for name in names for link in own.get((candidate.file, name), ())]
        return links if len(links) <= _MAX_LINKS_BACK else []

    def _is_in_prose(self, link: etree._Element) -> bool:
        """Whether there is more in its block than the link: a table of contents is links and nothing else."""
        block: etree._Element | None = link
        while block is not None and local_name(block) not in BLOCKS:
            block = block.getparent()
        if block is None or local_name(block) in HEADING_TAGS or local_name(block) in ("nav", "dt"):
            return False
        if block not in self._prose_chars:
            links = sum(len(visible_text(other)[0]) for other in block.iter("{*}a"))
            self._prose_chars[block] = len(visible_text(block)[0]) - links
        return self._prose_chars[block] >= _MAX_LABEL_CHARS

    def _is_surely_a_note(self, body: etree._Element, text: str) -> bool:
        if any(ancestor in self._notes.containers for ancestor in body.iterancestors()):
            return True
        label = text.strip("[]() .")
        begins = self._text_of(body)[:_MAX_LABEL_CHARS].lstrip("[( ")
        after = r"[\])]?[.:)\]]" if label.isalpha() else r"(?!\w)"  # "a. A note", but not "a friend"
        return bool(label) and re.match(re.escape(label) + after, begins) is not None

    def _says_something(self, body: etree._Element, links: list[etree._Element]) -> bool:
        """Whether there is more in a note than the links that lead back."""
        if local_name(body) == "dt":
            return True
        num_chars = len(self._text_of(body)) - sum(len(visible_text(link)[0]) for link in links)
        return num_chars >= _MIN_NOTE_CHARS

    def _text_of(self, body: etree._Element) -> str:
        if body not in self._texts:
            self._texts[body] = visible_text(body)[0]
        return self._texts[body]

    def _leads(self, candidate: _Candidate, body: etree._Element) -> bool:
        """Whether a link is a mark from outside the list in which its note stands."""
        around = body.getparent()
        if any(ancestor is around for ancestor in candidate.link.iterancestors("{*}ol", "{*}ul", "{*}dl", "{*}table")):
            return False
        return candidate.is_sure or are_labels(self._links_back(candidate, body), candidate.link, candidate.text)

    def _settle_containers(self, bodies: list[etree._Element]) -> None:
        """A list in which two notes or more lie below a heading "Notes", or nothing else lies, is all notes."""
        parents: dict[etree._Element, set[etree._Element]] = {}
        for body in bodies:
            parent = body.getparent()
            if parent is not None and body not in self._sure:
                parents.setdefault(parent, set()).add(body)
        for parent, own in parents.items():
            if local_name(parent) in ("ol", "ul", "dl", "tbody", "table"):
                others = [child for child in parent.iterchildren("*") if child not in own and local_name(child) != "dd"]
                if len(own) > 1 and len(others) <= len(own) // 4:
                    self._notes.containers.add(parent)
            elif len(own) > 1 and self._is_notes_only(parent, own):
                self._notes.containers.add(parent)

    def _is_notes_only(self, parent: etree._Element, own: set[etree._Element]) -> bool:
        """Whether a section begins with a heading "Notes", and has no other headings but those between notes."""
        if local_name(parent) not in ("body", "section", "div", "article"):
            return False
        first = next((child for child in parent.iterchildren("*") if visible_text(child)[0]), None)
        is_headed = first is not None and local_name(first) in (*HEADING_TAGS, "p", "header")
        title = visible_text(first)[0] if first is not None and is_headed and first not in own else ""
        if not title or not _NOTES_TITLE.fullmatch(title):
            return False
        children = [child for child in parent.iterchildren("*") if child is not first and visible_text(child)[0]]
        others = [child for child in children if child not in own and local_name(child) not in HEADING_TAGS]
        return len(others) <= len(own) // 2 and (not children or children[-1] in own)

    def _find_remaining(self) -> None:
        """Links back in bodies that no mark led to, and the headings right above notes."""
        for body in list(self._notes.bodies):
            above = next((item for item in body.itersiblings("*", preceding=True) if local_name(item) != "hr"), None)
            if above is None or above in self._notes.bodies or local_name(above) not in (*HEADING_TAGS, "p"):
                continue
            if len(above) < 5 and _NOTES_TITLE.fullmatch(visible_text(above)[0]):
                self._notes.containers.add(above)
        for body in self._notes.bodies:
            for link in body.iter("{*}a"):
                text = visible_text(link)[0] if len(link) < 5 else ""
                is_back = text.lower() in BACK_LABELS or not types_of(link).isdisjoint(("backlink", "referrer"))
                if is_back and link not in self._notes.marks:
                    self._notes.labels.add(link)
