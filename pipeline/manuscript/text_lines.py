"""Lines of a plain text to paragraphs: what was broken at a width is joined, what was set by lines is kept."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise

from pipeline.manuscript.headings import is_bare_heading, is_heading, looks_like_title
from pipeline.manuscript.prose import BLANK, clean, ends_sentence, is_ornament
from pipeline.manuscript.transcriber import FILLER

_LONG_LINE = 120
_MIN_WIDTH = 40
"""A text whose lines are shorter than this has no width that one could tell verse by."""
_UNDERLINE = re.compile(r"(={3,}|-{3,}|~{3,}|\^{3,})")
_HYPHENS = ("-", "\u2010")
_MAX_WORD_CHARS = 60
_FIRST_WORD = re.compile(r"\w+(?:['’]\w+)*")
_WORD = re.compile(r"[^\W\d_]+(?:[-'’][^\W\d_]+)*")
_SUSPENDED = frozenset(["and", "or", "nor", "to", "but", "und", "oder", "bis", "et", "ou", "y", "e"])


@dataclass(frozen=True, slots=True)
class Line:
    """A line as it stands in the text, and as it is read."""

    start: int
    text: str
    shown: str

    @property
    def is_blank(self) -> bool:
        return not self.shown

    @property
    def indent(self) -> int:
        expanded = self.text.replace(FILLER, "").expandtabs(4)
        return len(expanded) - len(expanded.lstrip(" \u00a0\u3000"))

    @property
    def is_indented(self) -> bool:
        return self.text.replace(FILLER, "").startswith(("  ", "\t", "\u3000", "\u00a0"))


@dataclass(slots=True)
class Paragraph:
    """Lines that are one block. `gap` is how many blank lines stand before it, -1 for none where it starts a group.

    `underline` is the character that a heading is underlined with. `dropped` are the places of hyphens that only
    the end of a line put there.
    """

    lines: list[Line]
    gap: int = 0
    text: str = ""
    is_verse: bool = False
    continues: bool = False
    underline: str = ""
    dropped: list[tuple[int, int, str]] = field(default_factory=list)

    @property
    def start(self) -> int:
        raw = self.lines[0].text
        return self.lines[0].start + len(raw) - len(raw.lstrip(BLANK))

    @property
    def end(self) -> int:
        return self.lines[-1].start + len(self.lines[-1].text.rstrip(BLANK))


def split_lines(text: str) -> list[Line]:
    lines = []
    start = 0
    for line in text.splitlines(keepends=True):
        lines.append(Line(start, line, clean(line)))
        start += len(line)
    return lines


class Layout:
    """How a text is set: its width, its usual indent, and the words it is made of."""

    def __init__(self, lines: Sequence[Line]) -> None:
        filled = [line for line in lines if not line.is_blank]
        lengths = sorted(len(line.text.rstrip(BLANK)) for line in filled)
        self.width = lengths[len(lengths) * 9 // 10] if lengths else 0
        self.is_wrapped = bool(lengths) and self.width <= _LONG_LINE
        indents: Counter[int] = Counter()
        for line in filled:
            indents[line.indent] += len(line.text)  # a line of verse counts for less than one of prose
        self.indent = indents.most_common(1)[0][0] if indents else 0
        self._lines = lines

    @cached_property
    def words(self) -> Counter[str]:
        """How often each word stands in the text, those that a line's end cuts in two aside."""
        return Counter(word.lower() for line in self._lines for word in _WORD.findall(line.text))

    def join(self, paragraph: Paragraph) -> None:
        """Set the paragraph's text: its lines with a space between them, or none after a hyphen."""
        pieces: list[str] = []
        for line, after in zip(paragraph.lines, [*paragraph.lines[1:], None], strict=True):
            shown = line.text.rstrip(BLANK.replace("\u00ad", ""))
            if after is None:
                pieces.append(line.text)
            elif shown.endswith("\u00ad"):
                pieces.append(shown)
            elif shown[-1:] in _HYPHENS and shown[-2:-1].isalnum():
                pieces.append(self._end_of_line(shown, line, after, paragraph))
            else:
                pieces += [line.text, " "]
        paragraph.text = clean("".join(pieces))

    def _end_of_line(self, shown: str, line: Line, after: Line, paragraph: Paragraph) -> str:
        """A line that ends in a hyphen: without it where the whole word is one elsewhere in the text."""
        follows = _FIRST_WORD.match(after.text.lstrip(BLANK))
        first = _last_word(shown[:-1])
        if follows is None or follows[0].lower() in _SUSPENDED or not first:
            return shown if follows and follows[0][0].isdigit() else shown + " "
        second = follows[0]
        whole, parted = f"{first}{second}".lower(), f"{first}-{second}".lower()
        if second[0].islower() and self.words[whole] > self.words[parted]:
            place = line.start + len(shown) - 1
            paragraph.dropped.append((place, place + 1, shown[-1]))
            return shown[:-1]
        return shown


def _last_word(text: str) -> str:
    """The letters that a text ends in."""
    start = len(text)
    while start and text[start - 1].isalpha() and len(text) - start < _MAX_WORD_CHARS:
        start -= 1
    return text[start:]


def read_paragraphs(lines: Sequence[Line], layout: Layout) -> list[Paragraph]:
    """The paragraphs of a text, ornaments being paragraphs of their own."""
    groups = list(_groups(lines))
    paragraphs: list[Paragraph] = []
    for gap, group in groups:
        parts = list(_parts(group, layout, is_only=len(groups) == 1))
        parts[0].gap = gap
        for part in parts:
            layout.join(part)
        paragraphs += [part for part in parts if part.text]
    return paragraphs


def _groups(lines: Sequence[Line]) -> Iterator[tuple[int, list[Line]]]:
    """Runs of lines between blank ones, and how many of those stand before; ornaments stand alone.

    A line that only holds what isn't read, such as a page's mark, is none, and parts the blank ones around it.
    """
    group: list[Line] = []
    gap = run = 0
    for number, line in enumerate(lines):
        shown = line.shown
        is_alone = _is_alone(shown, lines, number, group)
        if group and (not shown or is_alone):
            yield gap, group
            group, gap, run = [], 0, 0
        if not shown:
            run = 0 if FILLER in line.text else run + 1
            gap = max(gap, run)
        elif is_alone:
            yield gap, [line]
            gap = run = 0
        else:
            group.append(line)
    if group:
        yield gap, group


def _is_alone(shown: str, lines: Sequence[Line], number: int, group: list[Line]) -> bool:
    """Whether a line is a paragraph without blank lines around it: an ornament, or a heading above its text."""
    if not shown:
        return False
    if is_ornament(shown):
        return not (len(group) == 1 and underline_of(group[0].shown, shown))
    if group:
        return False
    if is_bare_heading(shown):
        return True
    after = lines[number + 1].shown if number + 1 < len(lines) else ""
    if not after or is_ornament(after) or after[0].islower() or not is_heading(shown):
        return False
    return not (shown.isupper() and after.isupper())  # a title in capitals that goes on


def underline_of(title: str, line: str) -> str:
    """The character a title is underlined with, or nothing when the line below is none, or a scene break."""
    found = _UNDERLINE.fullmatch(line)
    if not found or not title or len(title) > 80 or not any(char.isalnum() for char in title):
        return ""
    if line[0] == "=":
        return "="
    is_title = looks_like_title(title) and len(line) * 2 >= len(title)
    return line[0] if is_title else ""


def _parts(group: list[Line], layout: Layout, is_only: bool) -> Iterator[Paragraph]:
    """The paragraphs of a group: one, or one a line where lines are sentences, verse or a title's underlining."""
    if len(group) > 1 and (underline := underline_of(group[0].shown, group[1].shown)):
        yield Paragraph(group[:1], underline=underline, dropped=[_whole(group[1])])
        if group[2:]:
            yield from _parts(group[2:], layout, is_only=False)
        return
    num_ends = sum(ends_sentence(line.shown) for line in group)
    is_a_sentence_each = num_ends >= 0.9 * len(group) and (len(group) > 2 or _share_fitting(group, layout.width) == 1)
    if not layout.is_wrapped or is_a_sentence_each:
        yield from (Paragraph([line]) for line in group)
        return
    num_indented = sum(line.is_indented for line in group[1:])
    if is_only and 0 < num_indented < 0.8 * len(group):  # no blank lines at all: an indent begins a paragraph
        run: list[Line] = []
        for line in group:
            if run and line.is_indented:
                yield Paragraph(run)
                run = []
            run.append(line)
        yield Paragraph(run)
    elif _is_verse(group, layout):
        for number, line in enumerate(group):
            yield Paragraph([line], is_verse=True, continues=number > 0)
    else:
        yield Paragraph(group)


def _whole(line: Line) -> tuple[int, int, str]:
    start = line.start + len(line.text) - len(line.text.lstrip(BLANK))
    return start, line.start + len(line.text.rstrip(BLANK)), line.shown


def _is_verse(group: list[Line], layout: Layout) -> bool:
    """Whether lines end where they want, and not where the width is up: the next word would have fitted.

    A group set in is measured by its own longest line, since a quotation has a narrower width; any other by the
    text's width, and each line must begin as a verse does.
    """
    if len(group) < 2:
        return False
    is_set_in = all(line.indent >= layout.indent + 2 for line in group)
    width = layout.width
    longest = max(_length(line) for line in group)
    is_capital = all(line.shown.lstrip("\"'“‘([—-")[:1].isupper() for line in group)
    if is_set_in:
        # The last line of a quotation is short, too: two lines say nothing unless far from the edge.
        narrowest = int(0.8 * width) if is_capital else 0
        width = max(min(width, longest), narrowest) if len(group) > 2 else width - 8
    elif len(group) < 3 or width < _MIN_WIDTH or not is_capital:
        return False
    else:
        width -= 4
    return _share_fitting(group, width) >= (0.3 if is_set_in and is_capital else 0.6 if is_set_in else 0.9)


def _length(line: Line) -> int:
    return len(line.text.rstrip(BLANK).expandtabs(4))


def _share_fitting(group: Sequence[Line], width: int) -> float:
    """The share of line ends at which the next word would have fitted into the width."""
    pairs = list(pairwise(group))
    num_fitting = sum(_length(line) + 1 + len(after.shown.split(" ")[0]) <= width for line, after in pairs)
    return num_fitting / len(pairs) if pairs else 0.0
