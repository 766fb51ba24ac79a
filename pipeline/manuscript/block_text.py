"""The text of the block at hand, while a tree is read."""

from __future__ import annotations

from pipeline.manuscript.prose import BLANK, assemble, ends_sentence

_NUM_CHARS_AT_END = 60


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
        self._pieces: list[tuple[str, bool]] = []
        self._begins_cell = False

    def add(self, raw: str, position: int) -> bool:
        """Add a piece of the source; False when nothing of it is visible."""
        visible = raw.strip(BLANK)
        if not visible:
            self._pieces.append((raw, False))
            return False
        start = position + len(raw) - len(raw.lstrip(BLANK))
        self._lead_in(raw)
        self._pieces.append((raw, False))
        self.texts.append((visible, start))
        self._stretch(start, start + len(visible))
        return True

    def put_in(self, text: str, position: int) -> None:
        """Add words that the source doesn't hold, where they are heard in its place."""
        self._lead_in(text)
        self._pieces.append((text, True))
        self._stretch(position, position)

    def put_sign_in(self, sign: str) -> None:
        self._pieces.append((sign, True))

    def part(self) -> None:
        """What comes next is set apart by a space."""
        self._pieces.append((" ", False))

    def begin_cell(self) -> None:
        self._begins_cell = self.first is not None

    def end_row(self) -> None:
        text = self.at_end().rstrip()
        if self.first is not None and not ends_sentence(text) and not text.endswith((",", ";", ":", ".")):
            self._pieces.append((".", True))

    def trim(self) -> None:
        """Drop the white space at its end."""
        while self._pieces and not self._pieces[-1][0].strip(BLANK):
            self._pieces.pop()

    def cut_last_char(self, end: int) -> None:
        """Drop the last character, which is left out together with what stands up to `end`."""
        self._pieces[-1] = (self._pieces[-1][0][:-1], False)
        self.texts[-1] = (self.texts[-1][0][:-1], self.texts[-1][1])
        self.last = max(self.last, end)

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
