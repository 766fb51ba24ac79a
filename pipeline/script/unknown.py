"""Words that no dictionary knows: names and coinages, for an author to check before a night's work.

The dictionaries are the word lists of pyspellchecker, which need no network (docs/decisions/0013). Loading one takes
under a second and about 30 MB, so that is done when the first text asks for it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Protocol

from pipeline.script.language import primary_subtag

LANGUAGES = frozenset(("de", "en", "es", "eu", "fr", "it", "lv", "nl", "pt", "ru"))
"""Those with a dictionary, as the first part of a BCP 47 tag. In any other no word is known to be unknown."""

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*['’]?")
_NUMERAL = re.compile(r"[IVXLCDM]+")
_ENDINGS = ("'s", "'d", "'ll", "'ve", "'re", "'m", "n't", "'")
_LIGATURES = str.maketrans({"æ": "ae", "œ": "oe", "ß": "ss", "ø": "o", "ł": "l"})
_VOWEL = re.compile("[aeiouy]|[^a-z']")
_CAPITALS_MAX = 4
# English inflections: the ending, and what the base may end in instead.
_INFLECTIONS = (
    ("ies", ("y",)), ("ied", ("y",)), ("ier", ("y",)), ("iest", ("y",)), ("ily", ("y",)), ("iness", ("y",)),
    ("es", ("", "e")), ("s", ("",)), ("ed", ("", "e")), ("ing", ("", "e")), ("ings", ("", "e")), ("er", ("", "e")),
    ("ers", ("", "e")), ("est", ("", "e")), ("ly", ("", "le")), ("ness", ("",)), ("less", ("",)), ("ish", ("", "e")),
    ("able", ("", "e")), ("ful", ("",)), ("like", ("",)), ("eth", ("", "e")), ("in", ("ing",)), ("most", ("",)),
    ("ward", ("",)),
)  # fmt: skip
# British spellings, since the English list is American: each is tried in place of the other.
_BRITISH = tuple(
    (re.compile(british), american)
    for british, american in (
        ("our", "or"), ("is(?=e|ing|ation)", "iz"), ("ys(?=e|ing)", "yz"), ("re(?=s?$)", "er"), ("ence", "ense"),
        ("ll(?=ed|ing|er)", "l"), ("ae|oe", "e"), ("ogue", "og"), ("que(?=s?$)", "ck"), ("ould", "old"),
        ("gaol", "jail"),
        ("l(?=ment|ful)", "ll"),
    )
)  # fmt: skip
_PREFIXES = ("un", "re", "out", "over", "under", "mis", "fore", "non", "up")


class Dictionary(Protocol):
    def known(self, words: Iterable[str]) -> set[str]: ...


def unknown_words(text: str, language: str) -> list[str]:
    """The words of a text that no dictionary knows, each once, as first written and in that order.

    A word is known if its base is: without a possessive or a contracted verb, in lower case, without an English
    inflection, without accents. Numerals, single letters, short words in capitals and sounds without a vowel (Psst) are
    not looked up, and the parts of a hyphenated word are words. Empty where `language` has no dictionary.
    """
    primary = primary_subtag(language)
    if primary not in LANGUAGES:
        return []
    first_written: dict[str, str] = {}
    for word in _WORD.findall(text):
        if len(word) == 1 or _NUMERAL.fullmatch(word) or (word.isupper() and len(word) <= _CAPITALS_MAX):
            continue
        base = _strip_ending(word)
        if not first_written.setdefault(base.casefold(), base).islower() and base.islower():
            first_written[base.casefold()] = base
    dictionary = _load(primary)
    return [word for word in first_written.values() if not _is_known(word, dictionary, primary)]


def _strip_ending(word: str) -> str:
    word = word.replace("’", "'")
    for ending in _ENDINGS:
        if word.lower().endswith(ending) and len(word) > len(ending):
            return word[: -len(ending)]
    return word


def _is_known(word: str, dictionary: Dictionary, language: str) -> bool:
    folded = word.casefold()
    if len(folded) == 1 or (language == "en" and _VOWEL.search(folded) is None):
        return True
    return bool(dictionary.known(_bases(folded, language)))


def _bases(folded: str, language: str) -> Iterator[str]:
    plain = "".join(
        char for char in unicodedata.normalize("NFKD", folded.translate(_LIGATURES)) if not unicodedata.combining(char)
    )
    forms = {folded, plain, *plain.split("'")} if language != "en" else {folded, plain}
    yield from forms
    if language != "en":
        return
    yield from _inflected(plain)
    for british, american in _BRITISH:
        if (respelt := british.sub(american, plain)) != plain:
            yield respelt
            yield from _inflected(respelt)
    for prefix in _PREFIXES:
        if plain.startswith(prefix) and len(plain) > len(prefix) + 3:
            rest = plain.removeprefix(prefix)
            yield rest
            yield from _inflected(rest)
    if plain.startswith(("o'", "d'", "l'", "m'")):
        yield plain[2:]


def _inflected(word: str) -> Iterator[str]:
    """What a word may be an inflection of: stopping is of stop, baked of bake."""
    for ending, bases in _INFLECTIONS:
        stem = word.removesuffix(ending)
        if stem == word or len(stem) < (2 if ending == "in" else 3):
            continue
        for base in bases:
            yield stem + base
        if stem[-1] == stem[-2] and "" in bases:
            yield stem[:-1]


@cache
def _load(language: str) -> Dictionary:
    from spellchecker import SpellChecker

    return SpellChecker(language=language, distance=1)
