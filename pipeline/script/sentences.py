"""Where sentences end.

A mark (a stop, an ellipsis, a cut-off dash and its quotation mark) ends a sentence or not by what stands
around it. The rules for fiction are ours; whether a single full stop belongs to an abbreviation is Punkt's
to say (Kiss and Strunk 2006, as nltk has it), which is asked about the two words around the stop and nothing
else. So an edit moves no boundary elsewhere, the time is linear, and nltk never sees a hostile text.

The parameters are fixed and shipped, a file per language in `punkt/`; `benchmarks/train_punkt.py` writes
them. A language without a file gets empty ones: every stop before a capital ends a sentence.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

_OPENERS = r"[\"'“”„‟‘‚«»‹›(\[{¿¡_*—–.…\-\u2060\ufeff]"

# Every start of this pattern succeeds, and its repeats are possessive: no text makes it go over itself twice.
_MARK = re.compile(
    r"""
    (?: (?P<stop> [.!?…‽؟۔।]++ )                           # ends a sentence if white space follows
        (?P<more> (?: [ \u00a0\u202f\u2009] [.…]++ (?= [\s"'”’»)\]] | \Z ) )*+ )    # ". . ." and "so. …"
      | (?P<full> [。！？]++ )                               # ends one without white space
      | [—–―\-]++                                           # a speech cut off, if quotes follow: “But I—”
    )
    (?P<close> (?: ["'“”’‘»«›‹)\]}_*\u2060\ufeff] | [ \u00a0\u202f\u2009\u200a] [”»)\]] )*+ )
  | \n\s*\n                                                  # a paragraph ends, with a mark or without
    """,
    re.VERBOSE,
)
_SPACE = re.compile(r"\s")
_QUOTES = re.compile(r"[\"'“”’‘»«›‹]")
_AFTER = re.compile(rf"\s+(?P<opens>{_OPENERS}*)(?P<words>.{{0,60}})", re.DOTALL)
_WORD_BEFORE = re.compile(r"[^\W_][^\s\"“„«(\[—–/]*\Z")
_LOWER_BEFORE_I = re.compile(r"\b[^\W\d_A-Z]\S*\sI\Z")
_FIRST_WORD = re.compile(r"[^\W_][\w.’'&-]*")
_INITIAL = re.compile(r"[^\W\d_]\.")
_ITEM_NUMBER = re.compile(r"[•⁃]?\s?([0-9]{1,3}|[a-z])[.)]+(?=\s|\Z)")
_ITEM = re.compile(rf"(?<!\S){_ITEM_NUMBER.pattern}")
_NUMERAL = re.compile(r"\d|[IVXLC]{2,}\b")
_BEFORE_MAX = 40


@dataclass(frozen=True, slots=True)
class _Language:
    """What `punkt/<language>.json` says of a language. Words are in lower case, without their stop."""

    punkt: Any
    titles: frozenset[str]
    """Abbreviations that stand before a name, and so never end a sentence: Mr, Capt."""
    before_numbers: frozenset[str]
    """Abbreviations only where a number follows, being words elsewhere: no. 5, Dec. 1."""
    pronouns: frozenset[str]
    """Capitalised, these begin a new sentence after a speech, though a verb of saying follows."""
    speech_verbs: frozenset[str]


def split_sentences(text: str, language: str) -> list[str]:
    """Return the sentences of `text` in order, without the white space around them."""
    return [text[start:end] for start, end in sentence_spans(text, language)]


def sentence_spans(text: str, language: str) -> list[tuple[int, int]]:
    """Return where the sentences of `text` start and end, in order.

    Every character but white space lies in exactly one span. `language` is a BCP 47 tag, of which the first
    part counts; one without parameters, or an empty one, gets the general rules. Raises nothing of its own.
    """
    known = _read_language(language.replace("_", "-").split("-")[0].lower())
    cuts = [0]
    for item, next_item in pairwise([0, *_item_starts(text), len(text)]):
        for mark in _MARK.finditer(text, item, next_item):
            if _ends_sentence(text, cuts[-1], mark, known):
                cuts.append(mark.end())
        cuts.append(next_item)
    spans = []
    for cut, next_cut in pairwise(cuts):
        piece = text[cut:next_cut]
        if stripped := piece.strip():
            start = cut + len(piece) - len(piece.lstrip())
            spans.append((start, start + len(stripped)))
    return spans


def _item_starts(text: str) -> list[int]:
    """Return where the second and later items of a list in one paragraph begin: 1) Milk 2) Eggs.

    Only a text that begins with an item is a list, and only the next number or letter goes on with it.
    """
    starts: list[int] = []
    expected = None
    for item in _ITEM.finditer(text):
        if expected is None and text[: item.start()].strip():
            break
        value = int(item[1]) if item[1].isdigit() else ord(item[1])
        if value == expected:
            starts.append(item.start())
        if expected in (None, value):
            expected = value + 1
    return starts


def _ends_sentence(text: str, cut: int, mark: re.Match[str], known: _Language) -> bool:
    """Say whether the sentence that began at `cut` ends with `mark`."""
    if mark["close"] is None or mark["full"]:
        return True
    dots = _SPACE.sub("", (mark["stop"] or "") + (mark["more"] or "")).replace("…", "...")
    is_quoted = bool(_QUOTES.search(mark["close"]))
    after = _AFTER.match(text, mark.end())
    if after is None or not (follows := after["words"]) or not (dots or is_quoted):
        return False
    if follows[0].islower():
        return False  # “Stop!” he said. And: so … so clear
    if _ITEM_NUMBER.fullmatch(text[cut : mark.end()][:8].strip()):
        return False  # 1. Open the door.
    if dots == ".":
        before = text[max(cut, mark.start() - _BEFORE_MAX) : mark.start()]
        word = _WORD_BEFORE.search(before)
        if word is None or (word[0] == "I" and "i" in known.pronouns and _LOWER_BEFORE_I.search(before)):
            return True  # So do I. Silver knows.
        return _ends_with_word(word[0], follows, known)
    if dots and text[mark.start() - 1 : mark.start()] in ("(", "["):
        return False  # [...], (?)
    if is_quoted:
        return not dots or bool(after["opens"]) or not _is_attribution(follows, known)  # “Stop!” I said.
    return dots not in ("..", "...") or _punkt_ends("..", follows, known)


def _ends_with_word(word: str, follows: str, known: _Language) -> bool:
    """Say whether a sentence ends at the stop of `word`, before the capital or the figure of `follows`."""
    lowered = word.lower()
    if lowered in known.titles and word[0].isupper():
        return False
    if lowered in known.before_numbers:
        return _NUMERAL.match(follows) is None
    if len(word) == 1 and _INITIAL.match(follows):
        return False  # J. R. R. Tolkien: Punkt takes "A." for the article
    return _punkt_ends(word + ".", follows, known)


def _punkt_ends(word: str, follows: str, known: _Language) -> bool:
    next_word = _FIRST_WORD.match(follows)
    return next_word is None or bool(known.punkt.text_contains_sentbreak(f"{word} {next_word[0]}"))


def _is_attribution(follows: str, known: _Language) -> bool:
    """Say whether a name or "I" and a verb of saying follow a speech: “Stop!” Mr. Holmes cried."""
    words = follows.split()[:4]
    if not words or (words[0] != "I" and words[0].lower() in known.pronouns):
        return False
    for word in words:
        if word.strip(".,;:—").lower() in known.speech_verbs:
            return word is not words[0]
        if not word[0].isupper():
            return False
    return False


@cache
def _read_language(language: str) -> _Language:
    from nltk.tokenize.punkt import PunktParameters, PunktSentenceTokenizer

    record: dict[str, Any] = {}
    path = Path(__file__).with_name("punkt") / f"{language}.json"
    if language.isalpha() and path.is_file():
        record = json.loads(path.read_text(encoding="utf-8"))
    parameters = PunktParameters()
    for key in ("abbreviations", "abbrev_types", "titles"):
        parameters.abbrev_types.update(record.get(key, ()))
    parameters.collocations.update(tuple(pair.split(" ", 1)) for pair in record.get("collocations", ()))
    parameters.sent_starters.update(record.get("sent_starters", ()))
    parameters.ortho_context.update(record.get("ortho_context", {}))
    return _Language(
        PunktSentenceTokenizer(parameters),
        *(frozenset(record.get(key, ())) for key in ("titles", "before_numbers", "pronouns", "speech_verbs")),
    )
