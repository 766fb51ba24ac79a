"""Which paragraphs of a plain text are headings: by their wording, or by how they stand where wording says nothing."""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import IntEnum

from pipeline.manuscript.headings import is_bare_heading, is_bare_number, is_heading, looks_like_title
from pipeline.manuscript.prose import ends_sentence, is_ornament
from pipeline.manuscript.text_lines import Paragraph

_NUMBERED_TITLE = re.compile(r"(\d{1,3}|[IVXLC]{1,8})(?:[.:)]|\s*[—–-])?\s+(\S.*)")
_THE_END = re.compile(r"(?:the )?(?:end|finis|fin)\b.{0,30}", re.IGNORECASE)
# fmt: off
_SMALL_WORDS = frozenset(
    [
        "a", "about", "after", "an", "and", "as", "at", "before", "between", "but", "by", "de", "der", "des", "die",
        "du", "for", "from", "in", "into", "is", "la", "le", "near", "no", "nor", "of", "off", "on", "or", "over",
        "the", "through", "to", "und", "under", "upon", "von", "with", "without",
    ]
)
# fmt: on
_MAX_CHARS = 60
_MAX_LINES = 3


class _Look(IntEnum):
    """What makes a paragraph look like a heading, the surest first."""

    WORDING = 1
    UNDERLINE = 2
    NUMBER = 3
    CAPITALS = 4
    TITLE_CASE = 5


def find_headings(paragraphs: Sequence[Paragraph]) -> dict[int, int]:
    """Index of each heading's paragraph to its level; 0 for the second line of a heading.

    The surest kind that comes twice divides the text. Lines in capitals are headings below it, and lines that are
    only in title case are none unless nothing else divides.
    """
    looks = {i: look for i in range(len(paragraphs)) if (look := _look(paragraphs, i))}
    _drop_runs(paragraphs, looks)
    counts = {kind: sum(look is kind and _divides(paragraphs[i], look) for i, look in looks.items()) for kind in _Look}
    chief = next((kind for kind in _Look if counts[kind] > 1), _Look.WORDING)
    body = next((i for i in range(len(paragraphs)) if i not in looks and _is_body(paragraphs[i])), len(paragraphs))
    levels: dict[int, int] = {}
    awaits_title = False
    for i, paragraph in enumerate(paragraphs):
        level = _level(looks.get(i), chief, paragraph)
        if level > 1 and i < body and looks.get(i, 0) > _Look.UNDERLINE:
            level = 0  # a title page
        if level:
            levels[i] = level
        elif awaits_title and _is_one_line(paragraph) and looks_like_title(paragraph.text):
            levels[i] = 0
        awaits_title = bool(level) and (is_bare_heading(paragraph.text) or is_bare_number(paragraph.text))
    return levels


def _level(look: _Look | None, chief: _Look, paragraph: Paragraph) -> int:
    if look is None:
        return 0
    if look is _Look.WORDING or look is chief:
        return 2 if paragraph.underline not in ("", "=") and look is not _Look.WORDING else 1
    if look is _Look.UNDERLINE:
        return 2
    return 2 if look is _Look.CAPITALS and chief < look else 0


def _divides(paragraph: Paragraph, look: _Look) -> bool:
    """A preface alone says nothing of how chapters are called."""
    if look is _Look.WORDING:
        return is_bare_number(paragraph.text) or any(char.isspace() for char in paragraph.text.strip())
    return True


def _look(paragraphs: Sequence[Paragraph], i: int) -> _Look | None:
    paragraph = paragraphs[i]
    text = paragraph.text
    if paragraph.underline:
        return _Look.UNDERLINE if not is_heading(text) else _Look.WORDING
    if paragraph.is_verse or len(paragraph.lines) > _MAX_LINES or is_ornament(text) or _THE_END.fullmatch(text):
        return None
    if is_heading(text):
        return _Look.WORDING
    if not _is_one_line(paragraph):
        return _Look.CAPITALS if _is_set_apart(paragraphs, i) and _is_in_capitals(text) else None
    if is_bare_number(text):
        return _Look.WORDING if _may_interrupt(paragraphs, i) else None
    if not _is_set_apart(paragraphs, i):
        return None
    found = _NUMBERED_TITLE.fullmatch(text)
    if found and looks_like_title(found[2]) and (len(found[1]) > 1 or found[1].isdigit() or "." in text[:3]):
        return _Look.NUMBER
    if _is_in_capitals(text):
        return _Look.CAPITALS
    return _Look.TITLE_CASE if _is_in_title_case(text) else None


def _is_one_line(paragraph: Paragraph) -> bool:
    return len(paragraph.lines) == 1


def _is_body(paragraph: Paragraph) -> bool:
    """Whether it is of the text and not of its title page."""
    text = paragraph.text
    return ends_sentence(text) and not text.lower().startswith("by ") and not _is_in_capitals(text)


def _is_set_apart(paragraphs: Sequence[Paragraph], i: int) -> bool:
    """Blank lines around it, nothing that leads up to it, and what follows begins anew: no sign, no signature."""
    paragraph = paragraphs[i]
    before = paragraphs[i - 1] if i else None
    after = paragraphs[i + 1] if i + 1 < len(paragraphs) else None
    if after is None or (i and not paragraph.gap) or not after.gap:
        return False
    if before is not None and not (_ends(before) or (_is_one_line(before) and looks_like_title(before.text))):
        return False
    first = after.text.lstrip("\"'“‘«„([—-_ ")[:1]
    return bool(first) and not first.islower() and not is_ornament(after.text)


def _ends(paragraph: Paragraph) -> bool:
    return is_ornament(paragraph.text) or ends_sentence(paragraph.text) or paragraph.is_verse


def _is_in_capitals(text: str) -> bool:
    letters = [char for char in text if char.isalpha()]
    return (
        len(letters) > 2
        and len(text) <= _MAX_CHARS
        and text == text.upper() != text.lower()
        and text[0] not in "\"'“‘«[("
        and text[-1] not in ",;:!?…\"'”’»-—)]"
    )


def _is_in_title_case(text: str) -> bool:
    words = text.split()
    return (
        looks_like_title(text)
        and len(words) <= 8
        and text[-1].isalnum()
        and not text.lower().startswith("by ")
        and all(word.lstrip("\"'“‘(")[:1].isupper() or word.lower() in _SMALL_WORDS for word in words)
    )


def _drop_runs(paragraphs: Sequence[Paragraph], looks: dict[int, _Look]) -> None:
    """Lines that stand one after the other are no headings but a list, or the title page that a text begins with."""
    by_place = _Look.NUMBER, _Look.CAPITALS, _Look.TITLE_CASE
    body = next((i for i in range(len(paragraphs)) if i not in looks and _is_body(paragraphs[i])), 0)
    seen = dict(looks)
    last_in_front = max((i for i in seen if i < body), default=0)
    for i, look in seen.items():
        neighbours = seen.get(i - 1), seen.get(i + 1)
        if (look in by_place and i < last_in_front) or (look is _Look.TITLE_CASE and neighbours != (None, None)):
            del looks[i]


def _may_interrupt(paragraphs: Sequence[Paragraph], i: int) -> bool:
    """A number alone is a heading, unless the sentence before it is still going on: then it is a page's."""
    if i == 0:
        return True
    before = paragraphs[i - 1].text
    if is_ornament(before) or ends_sentence(before) or is_heading(before):
        return True
    return looks_like_title(before) and before.split()[-1][0].isupper()
