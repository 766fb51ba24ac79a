"""Where sentences end.

A mark (a stop, an ellipsis, a cut-off dash and its quotation mark) ends a sentence or not by what stands
around it, within a few dozen characters. So an edit moves no boundary elsewhere, and the time is linear. The
rules for fiction are ours; `sentence_words.py` knows the words of a language.
"""

from __future__ import annotations

import re
from itertools import pairwise

from pipeline.script.quotes import direct_quotes
from pipeline.script.sentence_words import Language, read_language

# The patterns are for a text whose quotation marks are directed. Every start of this one succeeds, and its
# repeats are possessive: no text makes it go over itself twice.
_MARK = re.compile(
    r"""
    (?: (?P<stop> (?: [.!?…‽؟۔।॥։]                          # ends a sentence if white space follows
                    | (?<= [\u0370-\u03ff\u1f00-\u1fff] ) ;  # the Greek question mark
                    | (?<= [\u0561-\u0587] ) : )++ )         # the Armenian stop, as it is often typed
        (?P<more> (?: [ \u00a0\u202f\u2009] [.…]++ (?= [\s”’)\]] | \Z ) )*+ )    # ". . ." and "so. …"
      | (?P<full> (?: [。！？｡။።፧] | ．(?!\d) )++ )                       # ends one without white space
      | [—–―\-]++                                           # a speech cut off, if quotes follow: “But I—”
    )
    (?P<close> (?: [”’)\]}_*†‡¹²³⁰-⁹」』\u2060\ufeff]
                 | [ \u00a0\u202f\u2009\u200a] [”’)\]]
                 | \[ [0-9]{1,3} \]                          # a note
                 | (?: (?<= (?: [^\W\d_] | \) ) [.!?] ) | (?<= [.!?]” ) ) [0-9]{1,3} (?= \s ) )*+ )
  | \n\s*\n                                                  # a paragraph ends, with a mark or without
    """,
    re.VERBOSE,
)
_SPACE = re.compile(r"\s")
_AFTER = re.compile(
    r"(?P<space>\s*+)(?P<opens>(?:[“‘(\[{¿¡_*—–―.…•\-\u2060\ufeff]\s?){0,12}+)(?P<words>.{0,80})", re.DOTALL
)
_DASH = re.compile(r"\s{0,3}[—–―]")
_NEW_SPEECH = re.compile(r"[“‘(—–―\[]")
_WORD_BEFORE = re.compile(r"[^\W_][^\s“(\[—–/]*\Z")
_LOWER_BEFORE_I = re.compile(r"\b[^\W\d_A-Z]\S*\sI\Z")
_GLUED_BEFORE = re.compile(r"(?:\A|[\s“‘(])(?:[^\W\d_]{2,}|[^\W\d_]+[’-][^\W\d_]+|[\d,]{2,})\Z")
_GLUED_AFTER = re.compile(r"[“‘(]?(?:[^\W\d_a-z][^\W\d_]*[^\W\d_A-Z]|[IA](?=\s))(?![\w@/]|\.\w)")
_QUOTING_PARTICLE = re.compile(r"[、,]|と|って|など")
_IN_TITLE = re.compile(r"[^《]*》")
_ITEM = re.compile(r"(?<!\S)[•⁃]?\s?\(?([0-9]{1,3}|[a-z]|[ivx]{1,5})[.)]+(?=\s|\Z)")
_ROMANS = ("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x", "xi", "xii", "xiii", "xiv", "xv")
_ITEM_MAX, _BEFORE_MAX = 12, 40


def split_sentences(text: str, language: str) -> list[str]:
    """Return the sentences of `text` in order, without the white space around them."""
    return [text[start:end] for start, end in sentence_spans(text, language)]


def sentence_spans(text: str, language: str) -> list[tuple[int, int]]:
    """Return where the sentences of `text` start and end, in order.

    Every character but white space lies in exactly one span. `language` is a BCP 47 tag, of which the first
    part counts; one without parameters, or an empty one, gets the general rules. Raises nothing of its own.
    """
    known = read_language(language)
    directed = direct_quotes(text)
    cuts = [0]
    for item, next_item in pairwise([0, *_item_starts(text), len(text)]):
        for mark in _MARK.finditer(directed, item, next_item):
            if _ends_sentence(directed, cuts[-1], mark, known):
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
    expected: set[int] = set()
    for item in _ITEM.finditer(text):
        if not expected and text[: item.start()].strip():
            break
        name = item[1]
        values = {int(name)} if name.isdigit() else set()
        values |= {_ROMANS.index(name) + 1} if name in _ROMANS else set()
        values |= {ord(name)} if name.isalpha() and len(name) == 1 else set()
        going_on = values & expected
        if going_on:
            starts.append(item.start())
        if going_on or not expected:
            expected = {value + 1 for value in going_on or values}
    return starts


def _ends_sentence(text: str, cut: int, mark: re.Match[str], known: Language) -> bool:
    """Say whether the sentence that began at `cut` ends with `mark`."""
    close = mark["close"]
    if close is None:
        return True
    after = _AFTER.match(text, mark.end())
    if after is None or not (follows := after["words"]):
        return False
    if mark["full"]:
        goes_on = _IN_TITLE if close.isspace() or not close else _QUOTING_PARTICLE
        return goes_on.match(follows) is None
    is_quoted = "”" in close or "’" in close
    if not (is_quoted or mark["stop"]) or _goes_on(text, cut, mark, after):
        return False
    before = text[max(cut, mark.start() - _BEFORE_MAX) : mark.start()]
    dots = _SPACE.sub("", f"{mark['stop'] or ''}{mark['more'] or ''}").replace("…", "...")
    if dots == ".":
        return _ends_with_stop(before, follows, known)
    if dots and before.endswith(("(", "[")):
        return False  # [...], (?)
    if is_quoted:
        return bool(_NEW_SPEECH.search(after["opens"])) or not known.is_attribution(follows)  # “Stop!” I said.
    word = _WORD_BEFORE.search(before)
    if dots in ("..", "..."):
        return _ends_with_ellipsis(word[0] if word else "", follows, known)
    return word is None or word[0].lower() not in known.exclaiming or known.begins_sentence(follows)  # Yahoo!


def _goes_on(text: str, cut: int, mark: re.Match[str], after: re.Match[str]) -> bool:
    """Say whether the sentence goes on after `mark`, whatever stands before it."""
    if after["words"][0].islower() and not after["opens"].startswith(("...", "…")):
        return True  # “Stop!” he said. And: so … so clear. But: It ended. …and then
    if not after["space"] and not _is_glued(text, cut, mark):
        return True
    if _DASH.match(after["opens"]) and not (_DASH.match(text) or _DASH.match(text, cut)):
        return True  # he can tell. — Oh, save me! But where speeches begin with dashes, one follows another
    return mark.end() - cut < _ITEM_MAX and _ITEM.fullmatch(text[cut : mark.end()].strip()) is not None  # 1. Go in.


def _is_glued(text: str, cut: int, mark: re.Match[str]) -> bool:
    """Say whether only the space is missing after the sentence, as in "the end.Next": no file.name or a.b.c."""
    if "”" in mark["close"]:
        return text[mark.end()].isupper() or text[mark.end()] in "“‘("
    before = _GLUED_BEFORE.search(text[max(cut, mark.start() - _BEFORE_MAX) : mark.start()])
    return before is not None and mark["stop"] in (".", "!", "?") and bool(_GLUED_AFTER.match(text, mark.end()))


def _ends_with_stop(before: str, follows: str, known: Language) -> bool:
    """Say whether a single full stop ends the sentence of which `before` is the end."""
    word = _WORD_BEFORE.search(before)
    if word is None or (word[0] == "I" and "i" in known.pronouns and _LOWER_BEFORE_I.search(before)):
        return True  # So do I. Silver knows.
    return known.ends_with(word[0], follows, len(before.split()))


def _ends_with_ellipsis(word: str, follows: str, known: Language) -> bool:
    """Say whether a sentence ends with three dots after `word`: not where it falters (“No … No, I … I can’t”)."""
    first = follows.split(maxsplit=1)[0].strip(".,;:!?…’”")
    if first.lower() == word.lower() or (first.partition("’")[0] == "I" and "i" in known.pronouns):
        return False
    return known.punkt.ends(".", follows)  # to Punkt, ".." is an ellipsis
