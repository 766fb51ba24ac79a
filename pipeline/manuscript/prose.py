"""Characters: what of a text is visible, and what is mere ornament."""

from __future__ import annotations

import re
from collections.abc import Sequence

_CONTROLS = "".join(char for char in map(chr, range(0x20)) if not char.isspace())
_DIRECTIONS = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
INVISIBLE = "\u00ad\u200b\u2060\ufeff" + _DIRECTIONS + _CONTROLS
BLANK = INVISIBLE + "".join(char for char in map(chr, range(0x3001)) if char.isspace())
_VISIBLE = {ord(char): None for char in INVISIBLE} | {
    0xFB00: "ff",
    0xFB01: "fi",
    0xFB02: "fl",
    0xFB03: "ffi",
    0xFB04: "ffl",
    0xFB05: "st",
    0xFB06: "st",
}
_SPEECH = frozenset("!?¡¿\"'“”‘’„‚«»‹›「」『』！？")
_OH_NO_OH = re.compile(
    r"[\W_]*o[0Oo]o[\W_]*|(?P<sign>[-–—~•*=+])+ ?[oO0] ?(?P=sign)+|[oO0](?:[ ~•*-]+[oO0]){2,}|[oO]{2}0+[oO]{2}"
)
_CROSSES = re.compile(r"x(?:\s+x){2,}|X(?:\s+X){2,}")
_ENDS_SENTENCE = re.compile(r"[.!?…。！？][\"'”’»)\]]*$")
_MAX_TITLE_WORDS = 8
_NO_LETTERS = re.compile(r"[\W_]+")


def clean(raw: str) -> str:
    """The visible characters: white space collapsed, soft hyphens, joiners and directions dropped, ligatures opened."""
    return " ".join(raw.translate(_VISIBLE).split())


def assemble(pieces: Sequence[tuple[str, bool]]) -> tuple[str, tuple[tuple[int, int], ...]]:
    """The pieces of a block's text as `clean` would have it, and the ranges of those that were added to the source."""
    if not any(is_added for _, is_added in pieces):
        return clean("".join(raw for raw, _ in pieces)), ()
    parts: list[str] = []
    added: list[tuple[int, int]] = []
    length = 0
    is_apart = False
    for raw, is_added in pieces:
        visible = raw.translate(_VISIBLE)
        text = " ".join(visible.split())
        if text:
            is_closing = is_added and text[0] in ",.^"
            if length and (is_apart or visible[0].isspace()) and not is_closing:
                parts.append(" ")
                length += 1
            if is_added:
                added.append((length, length + len(text)))
            parts.append(text)
            length += len(text)
        if visible:
            is_apart = visible[-1].isspace() or (is_apart and not text)
    return "".join(parts), tuple(added)


def keep_letters(text: str) -> str:
    """The letters and digits of a text alone."""
    return _NO_LETTERS.sub("", text)


def is_ornament(text: str) -> bool:
    """Whether a whole block is only an ornament ("* * *", "⁂", "o0o"). Wordless speech ("“…?”") is not."""
    if not text:
        return False
    if _OH_NO_OH.fullmatch(text) or _CROSSES.fullmatch(text):
        return True
    return not any(char.isalnum() or char in _SPEECH for char in text)


def ends_sentence(text: str) -> bool:
    return _ENDS_SENTENCE.search(text) is not None


def first_words(text: str) -> str:
    """A title for a text that has none."""
    words = text.split()
    title = " ".join(words[:_MAX_TITLE_WORDS])
    return title[:60].rstrip() + "…" if len(words) > _MAX_TITLE_WORDS or len(title) > 60 else title


def count_controls(text: str) -> tuple[int, int]:
    """How many control characters a text has, and how many different ones: the mark of binary data."""
    controls = [char for char in text if char < " " and char not in "\t\n\r\f\v"]
    return len(controls), len(set(controls))
