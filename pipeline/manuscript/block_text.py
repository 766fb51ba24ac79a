"""The text of the block at hand, while a tree is read."""

from __future__ import annotations

from pipeline.manuscript.prose import BLANK, assemble, clean, ends_sentence, is_ornament

_NUM_CHARS_AT_END = 60
_MAX_ORNAMENT_PIECES = 20


class BlockText:
    """Pieces as they stand in the source, and those that are added. Places are characters of the whole file's text."""

    def __init__(self) -> None:
        self.first: int | None = None
        """Where the first visible character stands; None while there is none."""
        self.last = 0
        """The place after the last visible character."""
        self.has_hole = False
        """Whether something within it is left out."""
        self.texts: list[tuple[str, int]] = []
        """The pieces of the source, and where each begins."""
        self.number = ""
        """A list item's number, which waits for the item's text."""
        self.ends_ornament = False
        """Whether it ends with a line that is an ornament and nothing else."""
        self._pieces: list[tuple[str, bool]] = []
        self._begins_cell = False
        self._joint: int | None = None  # where a drop cap ends whose word may go on after white space
        self._line = (0, 0, 0)  # how many pieces and texts stand before the line at hand, and the place they end at

    def add(self, raw: str, position: int) -> bool:
        """Add a piece of the source; False when nothing of it is visible."""
        visible = raw.strip(BLANK)
        if not visible:
            self._pieces.append((raw, False))
            return False
        start = position + len(raw) - len(raw.lstrip(BLANK))
        self._lead_in(raw)
        if self._joint is not None and visible[0].islower():
            del self._pieces[self._joint :]
            raw = raw.lstrip(BLANK)
        self._joint = None
        self._pieces.append((raw, False))
        self.texts.append((visible, start))
        self._stretch(start, start + len(visible))
        return True

    def put_in(self, text: str, position: int) -> None:
        """Add words that the source doesn't hold, where they are heard in its place."""
        self._lead_in(text)
        self._joint = None
        self._pieces.append((text, True))
        self._stretch(position, position)

    def put_sign_in(self, sign: str) -> None:
        self._pieces.append((sign, True))

    def part(self) -> None:
        """What comes next is set apart by a space."""
        self._pieces.append((" ", False))

    def part_lines(self) -> None:
        """The same where a line ends, which may hold an ornament and nothing else."""
        self.part()
        pieces = self._pieces[self._line[0] :]
        is_short = len(pieces) <= _MAX_ORNAMENT_PIECES
        self.ends_ornament = is_short and is_ornament(clean("".join(raw for raw, _ in pieces)))
        if not self.ends_ornament:  # an ornament may take several lines
            self._line = (len(self._pieces), len(self.texts), self.last)

    def expect_rest(self) -> None:
        """A drop cap ends here: the word goes on after white space too, if a small letter follows."""
        self._joint = len(self._pieces)

    def begin_cell(self) -> None:
        self._begins_cell = self.first is not None

    def end_row(self) -> None:
        text = self.at_end().rstrip()
        if self.first is None or is_ornament(text):
            return
        if not ends_sentence(text) and not text.endswith((",", ";", ":", ".")):
            self._pieces.append((".", True))

    def trim(self) -> None:
        """Drop the white space at its end."""
        while self._pieces and not self._pieces[-1][0].strip(BLANK):
            self._pieces.pop()

    def last_char(self, end: int) -> str:
        """The character of the source that touches this place, if the text at hand ends with it."""
        if not self.texts or self._pieces[-1][1]:
            return ""
        text, start = self.texts[-1]
        touches = start + len(text) == end and self._pieces[-1][0][-1:] == text[-1:]
        return text[-1:] if touches else ""

    def cut_last_char(self, end: int) -> None:
        """Drop the last character, which is left out together with what stands up to `end`."""
        self._pieces[-1] = (self._pieces[-1][0][:-1], False)
        self.texts[-1] = (self.texts[-1][0][:-1], self.texts[-1][1])
        self.last = max(self.last, end)

    def cut_ornament(self) -> BlockText | None:
        """Take the last line away if it is an ornament below a line of text."""
        num_pieces, num_texts, last = self._line
        pieces = self._pieces[num_pieces:]
        if not num_texts or any(is_added for _, is_added in pieces) or len(pieces) > _MAX_ORNAMENT_PIECES:
            return None
        if not is_ornament(clean("".join(raw for raw, _ in pieces))):
            return None
        line = BlockText()
        line._pieces, line.texts, line.has_hole = pieces, self.texts[num_texts:], self.has_hole
        line.first, line.last = line.texts[0][1], self.last
        del self._pieces[num_pieces:], self.texts[num_texts:]
        self.last = last
        self._line = (0, 0, 0)
        return line

    def at_end(self) -> str:
        """The last characters."""
        text = ""
        for piece, _ in reversed(self._pieces):
            text = piece[-200:] + text
            if len(text) >= _NUM_CHARS_AT_END:
                break
        return text

    def assemble(self) -> tuple[str, tuple[tuple[int, int], ...]]:
        return assemble(self._pieces)

    def clear(self) -> None:
        self._pieces.clear()
        self.texts.clear()
        self.first, self.last, self.has_hole = None, 0, False
        self._joint, self._line, self.ends_ornament = None, (0, 0, 0), False

    def _lead_in(self, text: str) -> None:
        if self.number:
            own = self.number.strip(". ")
            if not text.lstrip().startswith((own + ".", own + ")")):
                self._pieces.append((self.number, True))
            self.number = ""
        if self._begins_cell:
            before = self.at_end().rstrip()
            self._pieces.append((", ", True) if before[-1:].isalnum() else (" ", False))
            self._begins_cell = False

    def _stretch(self, start: int, end: int) -> None:
        self.first = start if self.first is None else self.first
        self.last = max(self.last, end)
