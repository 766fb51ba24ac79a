"""Where chapters begin: by a table of contents, by headings, and by front and back matter that neither lists."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from pipeline.manuscript.book import Kind
from pipeline.manuscript.document import Document
from pipeline.manuscript.headings import is_bare_number, is_heading, is_part_title
from pipeline.manuscript.matter import NOT_HEARD

_WHOLE_BOOK_SHARE = 0.8
_MIN_HIDDEN_CHAPTERS = 3


class Place(NamedTuple):
    """Before which block of which document."""

    document: int
    block: int


@dataclass(frozen=True, slots=True)
class Entry:
    """Where a chapter begins. `is_part` says that chapters lie below it, so it may be a mere title page."""

    place: Place
    title: str = ""
    depth: int = 0
    is_part: bool = False
    part: str = ""
    """The title of the part it lies in."""
    file_title: bool = False
    """Where the table of contents doesn't list it and it has no heading, the file's name is its title."""


def choose_entries(documents: Sequence[Document], listed: Sequence[Entry], guided: Mapping[Place, str]) -> list[Entry]:
    """Where chapters begin, in reading order: at what is listed, or at headings where that says nothing."""
    chosen = list(listed)
    if len(chosen) < 2:
        headings = _heading_entries(documents)
        if len(headings) > 1 and (not chosen or _are_chapters(headings)):
            chosen = headings
    else:
        chosen += _hidden_chapters(documents, chosen)
    if not chosen:
        chosen = [Entry(Place(index, 0)) for index in range(len(documents))]
    chosen = _with_unlisted(documents, _merge_same_places(chosen), guided)
    return _take_headings_along(documents, chosen)


def _heading_entries(documents: Sequence[Document]) -> list[Entry]:
    """An entry at each heading of the highest level that comes more than once; where they head parts, the next too."""
    by_level: dict[int, list[Entry]] = {}
    for number, document in enumerate(documents):
        for block, level in sorted(document.levels.items()):
            title = document.blocks[block].text
            is_second_line = document.levels.get(block - 1) == level and not (
                is_heading(title) or is_bare_number(title)
            )
            if not is_second_line:
                entry = Entry(Place(number, block), title, level, is_part_title(title))
                by_level.setdefault(level, []).append(entry)
    levels = [level for level in sorted(by_level) if len(by_level[level]) > 1]
    if not levels:
        return []
    chosen = list(by_level[levels[0]])
    if len(levels) > 1 and sum(entry.is_part for entry in chosen) > 1:
        chosen += by_level[levels[1]]
    chosen.sort(key=lambda entry: entry.place)
    part = ""
    for index, entry in enumerate(chosen):
        part = entry.title if entry.is_part else part if entry.depth > levels[0] else ""
        chosen[index] = replace(entry, part="" if entry.is_part else part)
    return chosen


def _hidden_chapters(documents: Sequence[Document], entries: Sequence[Entry]) -> list[Entry]:
    """The headings within the one entry that holds nearly the whole book: the contents list "Cover, Start, Rights"."""
    ordered = sorted({entry.place for entry in entries})
    headings = [entry for entry in _heading_entries(documents) if entry.place not in ordered]
    if len(headings) < _MIN_HIDDEN_CHAPTERS:
        return []
    sizes = [sum(len(block.text) for block in document.blocks) for document in documents]
    for first, end in zip(ordered, [*ordered[1:], Place(len(documents), 0)], strict=True):
        inside = [entry for entry in headings if first < entry.place < end]
        if len(inside) < _MIN_HIDDEN_CHAPTERS:
            continue
        num_chars = sum(sizes[first.document + 1 : end.document])
        if first.document == end.document:
            num_chars = sum(len(block.text) for block in documents[first.document].blocks[first.block : end.block])
        else:
            num_chars += sum(len(block.text) for block in documents[first.document].blocks[first.block :])
        if num_chars >= _WHOLE_BOOK_SHARE * sum(sizes):
            return inside if _are_chapters(inside) else []
    return []


def _are_chapters(entries: Sequence[Entry]) -> bool:
    """Whether headings that no contents list head chapters: by their wording, or since each begins a file.

    Others head the sections of one chapter.
    """
    num_worded = sum(is_heading(entry.title) or is_bare_number(entry.title) for entry in entries)
    num_first = len({entry.place.document for entry in entries if entry.place.block == 0})
    return 2 * num_worded >= len(entries) or 2 * num_first > len(entries)


def _merge_same_places(entries: Sequence[Entry]) -> list[Entry]:
    """One entry a place, in reading order. A chapter's title goes before that of the part it opens."""
    merged: dict[Place, Entry] = {}
    for entry in sorted(entries, key=lambda entry: entry.place):
        known = merged.get(entry.place)
        if known is None or not known.title or (entry.depth > known.depth and entry.title):
            merged[entry.place] = entry
    return list(merged.values())


def _with_unlisted(documents: Sequence[Document], entries: Sequence[Entry], guided: Mapping[Place, str]) -> list[Entry]:
    """Add entries for what no table of contents lists: front files, and front or back matter further on.

    Within a file they are added where matter begins that isn't heard, and at all the borders of what comes before the
    first entry.
    """
    result = list(entries)
    listed = {entry.place.document for entry in entries}
    first = entries[0].place
    was_matter = False
    for number, document in enumerate(documents):
        is_front = number < first.document or (number == first.document and first.block > 0)
        is_typed = bool(document.blocks and document.matter_of(0, len(document.blocks)))
        is_matter = is_typed or (Place(number, 0) in guided and number not in listed)
        if number in listed and not is_front:
            was_matter = False
        elif is_front or is_matter or was_matter:
            result.append(Entry(Place(number, 0), file_title=number < first.document))
            was_matter = is_matter
        own = sorted(entry.place.block for entry in entries if entry.place.document == number)
        borders = _matter_within(document, own, is_front)
        borders += [place.block for place, matter in guided.items() if place.document == number and matter in NOT_HEARD]
        result += [Entry(Place(number, block)) for block in borders if 0 < block < len(document.blocks)]
    return sorted({entry.place: entry for entry in reversed(result)}.values(), key=lambda entry: entry.place)


def _matter_within(document: Document, listed: Sequence[int], is_front: bool) -> list[int]:
    """The blocks of a file at which unlisted front or back matter begins or ends, as elements say."""
    borders = []
    front_end = (listed[0] if listed else len(document.blocks)) if is_front else 0
    ends = {*listed, len(document.blocks)}
    for matter in reversed(document.matter):
        if matter.around >= 0 or matter.first == matter.end:
            continue
        if matter.end <= front_end:
            borders += [matter.first, matter.end]
        elif matter.kind in NOT_HEARD and matter.end in ends:
            borders.append(matter.first)
            ends.add(matter.first)
    return borders


def _take_headings_along(documents: Sequence[Document], entries: Sequence[Entry]) -> list[Entry]:
    """Move each entry before the headings of its own rank or a higher one that stand right above it."""
    listed = {entry.place for entry in entries if not (entry.place.block == 0 and not entry.title)}
    moved = {}
    for entry in entries:
        number, block = entry.place
        blocks, levels = documents[number].blocks, documents[number].levels
        while block > 0 and blocks[block - 1].kind is Kind.HEADING and Place(number, block - 1) not in listed:
            if levels.get(block - 1, 0) > levels.get(block, 7):
                break  # "The End" below the last chapter's text
            block -= 1
        place = Place(number, block)
        if place not in moved or entry.title:
            moved[place] = replace(entry, place=place)
    return list(moved.values())
