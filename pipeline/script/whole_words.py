"""Where a word begins and ends in a text of any script, and how the word of a lexicon may be written there.

Letters here are what a word is made of: with the marks that combine with them, and with what is invisible inside a
word. Chinese, Japanese, Thai, Lao, Khmer and Burmese put no space between words, so each of their characters begins
a word, and after each one may end.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

import regex

_UNSPACED = r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]"
_LETTER = rf"[[\w\p{{M}}\u00ad\u200b-\u200d\u2060\ufeff]--{_UNSPACED}]"
_APOSTROPHES = "'’‘ʼ"
_HYPHENS = "-\u2010\u2011"

# "don" is not a word of "don't", nor "Artagnan" one of "d'Artagnan"; but a word ends before a possessive or a
# contracted verb (Cravech's, he'll).
_BEGIN = regex.compile(
    rf"(?V1)(?<!{_LETTER})(?<!{_LETTER}[{_APOSTROPHES}])(?:{_LETTER}++|[^\s{_UNSPACED}])|{_UNSPACED}"
)
_ENDING = regex.compile(rf"(?V1)['’ʼ](s|d|ll|ve|re)(?!{_LETTER})", regex.IGNORECASE)
_GOES_ON = regex.compile(rf"(?V1){_LETTER}|[{_APOSTROPHES}](?!(?i:s|d|ll|ve|re)(?!{_LETTER})){_LETTER}")
_ENDS_UNSPACED = regex.compile(rf"(?V1){_UNSPACED}\p{{M}}*\Z")

# 24 is no word of 24,000, 24.5, $24, 24% or 10-24: what is read there is the whole of it.
_JOINS = r"[.,:/'’\-–]"
_IN_NUMBER = re.compile(rf"(?<=[.$£€¥₹#§^@])|(?<=[0-9]{_JOINS})")
_NUMBER_GOES_ON = re.compile(rf"[%‰°¢£€¥₹^@]|{_JOINS}[0-9]")


def find_beginnings(text: str) -> Iterator[tuple[int, str]]:
    """Every place where a word or a mark begins, and its first word or mark, folded."""
    return ((begin.start(), fold(begin[0])) for begin in _BEGIN.finditer(text))


def first_word(word: str) -> str:
    """By what `find_beginnings` finds a word; empty where there is nothing to find."""
    begin = _BEGIN.search(word)
    return fold(begin[0]) if begin else ""


def fold(text: str) -> str:
    """What is the same in any case, with any apostrophe and hyphen, composed or not."""
    if text.isascii():
        return text.lower()
    plain = re.sub(f"[{_APOSTROPHES}]", "'", re.sub(f"[{_HYPHENS}]", "-", text))
    return unicodedata.normalize("NFC", plain).casefold()


def match_word(word: str, case: str) -> re.Pattern[str]:
    """A pattern for `word` in the cases that it stands for: `any`, `exact`, or `smart`.

    Smart: a word in lower case stands for any case of it; one with a capital anywhere for itself as written and for
    all capitals, so that `Polish` leaves "polish" alone but reads a heading.
    """
    if case == "any" or (case == "smart" and word == word.lower()):
        return re.compile(_escape(word), re.IGNORECASE)
    if case == "exact":
        return re.compile(_escape(word))
    return re.compile(f"{_escape(word)}|{_escape(word.upper())}")


def is_whole(text: str, start: int, end: int) -> bool:
    """Whether what begins a word at `start` ends one at `end`, and isn't part of a longer number."""
    if text[start].isdigit() and _IN_NUMBER.match(text, start):
        return False
    if text[end - 1].isdigit() and _NUMBER_GOES_ON.match(text, end):
        return False
    return not _GOES_ON.match(text, end) or bool(_ENDS_UNSPACED.search(text, max(0, end - 4), end))


def find_ending(text: str, end: int) -> str:
    """The possessive or contracted verb that follows a word (`s`, `ll`), without its apostrophe; else empty."""
    ending = _ENDING.match(text, end)
    return ending[1].lower() if ending else ""


def _escape(word: str) -> str:
    parts = unicodedata.normalize("NFC", word).split()
    return r"\s+".join("".join(map(_escape_char, part)) for part in parts)


def _escape_char(char: str) -> str:
    if char in _APOSTROPHES:
        return f"[{_APOSTROPHES}]"
    if char in _HYPHENS:
        return f"[{_HYPHENS}]"
    apart = unicodedata.normalize("NFD", char)
    return re.escape(char) if apart == char else f"(?:{re.escape(char)}|{re.escape(apart)})"
