"""What a language says of the words around a stop: abbreviations, titles, pronouns, verbs of saying.

Whether a single full stop belongs to an abbreviation is Punkt's to say (Kiss and Strunk 2006, as nltk has it),
which is asked about the two words around the stop and nothing else. The parameters are fixed and shipped, a
file per language in `punkt/`; `benchmarks/train_punkt.py` writes what of them is trained. A language without a
file gets empty ones: every stop before a capital ends a sentence.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any

from pipeline.script.language import primary_subtag

_FIRST_WORD = re.compile(r"[^\W_][\w.&-]*")
_INITIAL = re.compile(r"[^\W\d_]\.")
_INITIALS = re.compile(r"[^\W\d_a-z](?:\.-?[^\W\d_a-z]){1,2}")
_NUMERAL = re.compile(r"\d|[IVXLC]{2,}\b")
_AMOUNT = re.compile(r"\d{1,5}[^\W\d_]{1,3}")
_ORDINAL = re.compile(r"\d{1,2}|[IVXL]+")
_IN_NAME = frozenset(("of", "the", "de", "du", "la", "von", "van", "der", "den", "di", "da", "and", "had"))
_ATTRIBUTION_MAX = 6
"""Words in which the verb of an attribution comes: “Stop!” old Sir John Falstaff suddenly cried."""


class Punkt:
    """Punkt with fixed parameters, asked about two words at a time.

    It takes some 30 µs for a verdict, so it is asked only where it could say anything but "yes", and once for all
    next words that it knows nothing of.
    """

    def __init__(self, record: Mapping[str, Any]) -> None:
        from nltk.tokenize.punkt import PunktParameters, PunktSentenceTokenizer

        parameters = PunktParameters()
        for key in ("abbreviations", "abbrev_types", "titles", "trailing"):
            parameters.abbrev_types.update(record.get(key, ()))
        pairs = [tuple(pair.split(" ", 1)) for pair in record.get("collocations", ())]
        parameters.collocations.update(pairs)
        parameters.sent_starters.update(record.get("sent_starters", ()), record.get("starters", ()))
        parameters.ortho_context.update(record.get("ortho_context", {}))
        self._tokenizer = PunktSentenceTokenizer(parameters)
        self._abbreviations = frozenset(parameters.abbrev_types)
        self.starters = parameters.sent_starters | parameters.ortho_context.keys()
        """Words that are capitalised only where a sentence begins."""
        self._known = self.starters | {second for _, second in pairs}
        self._verdicts: dict[tuple[str, str], bool] = {}

    def ends(self, word: str, follows: str) -> bool:
        """Say whether there is a break between `word`, without its stop, and the capital or figure that follows."""
        asked = word.lower()
        if len(asked) > 1 and asked not in self._abbreviations:
            asked = asked.rpartition("-")[2]  # Lt.-Col.
            if asked not in self._abbreviations:
                return True
        next_word = first_word(follows)
        if next_word.lower() not in self._known:
            next_word = "Xx" if next_word[:1].isalpha() else "1"
        if (asked, next_word) not in self._verdicts:
            self._verdicts[asked, next_word] = bool(self._tokenizer.text_contains_sentbreak(f"{asked}. {next_word}"))
        return self._verdicts[asked, next_word]


@dataclass(frozen=True, slots=True)
class Language:
    """What `punkt/<language>.json` says of a language. Words are in lower case, without their stop."""

    punkt: Punkt
    titles: frozenset[str]
    """Abbreviations that stand before a name, and so never end a sentence where they are capitalised: Mr, Capt."""
    leading: frozenset[str]
    """Abbreviations that something always follows: viz, i.e."""
    trailing: frozenset[str]
    """Abbreviations that end what they belong to: Jr, p.m. A capital after one mostly begins a sentence."""
    before_numbers: frozenset[str]
    """Abbreviations only where a number follows, being words elsewhere: no. 5, Dec. 1."""
    exclaiming: frozenset[str]
    """Names that end with an exclamation mark."""
    pronouns: frozenset[str]
    """Capitalised, these begin a new sentence after a speech, though a verb of saying follows."""
    speech_verbs: frozenset[str]
    other_verbs: frozenset[str]
    """Those of them that are as often something else: “No!” Anna began to cry."""
    after_other_verbs: frozenset[str]
    """The words after such a verb that say so: to cry, the seal."""
    days: frozenset[str]
    """Days and months, which go on with the hour or the number before them."""
    has_ordinals: bool
    """Whether a stop makes a figure an ordinal, as it does in German."""

    def ends_with(self, word: str, follows: str, num_words: int) -> bool:
        """Say whether a sentence ends at the stop of `word`, before the capital or the figure of `follows`.

        `num_words` counts the words of the sentence up to the stop.
        """
        if word.rpartition("’")[2].lower() in self.titles:
            word = word.rpartition("’")[2]  # l’Ing.
        lowered = word.lower()
        is_initial = len(word) == 1 and word.isupper()
        if lowered in self.titles and word[0].isupper():
            return False
        if lowered in self.leading and not is_initial:
            return False
        if lowered in self.before_numbers and (not is_initial or _NUMERAL.match(follows)):
            return _NUMERAL.match(follows) is None
        if _AMOUNT.fullmatch(word) and follows[0].isdigit():
            return False  # 10s. 6d.
        if len(word) == 1 and _INITIAL.match(follows):
            return False  # J. R. R. Tolkien: Punkt takes "A." for the article
        if lowered in self.trailing and num_words > 3 and not follows[0].isdigit():  # but: At 5 p.m. Smith rose
            return first_word(follows).lower() not in self.days | self.trailing
        if self.has_ordinals and _ORDINAL.fullmatch(word):
            return self.begins_sentence(follows)
        if _INITIALS.fullmatch(word) and lowered not in self.trailing:
            return self.begins_sentence(follows)  # H.G. Wells, U.S. Navy
        return self.punkt.ends(word, follows)

    def begins_sentence(self, follows: str) -> bool:
        """Say whether the first word is one of those that are capitalised only where a sentence begins."""
        return first_word(follows).lower() in self.punkt.starters

    def is_attribution(self, follows: str) -> bool:
        """Say whether a name or "I" and a verb of saying follow a speech: “Stop!” Mr. Holmes cried."""
        words = follows.split(maxsplit=_ATTRIBUTION_MAX)[:_ATTRIBUTION_MAX]
        if not words or (words[0] != "I" and words[0].lower() in self.pronouns):
            return False
        for i, word in enumerate(words):
            bare = word.strip(".,;:!?—")
            if bare.lower() in self.speech_verbs:
                is_other = bare == word and bare in self.other_verbs and i + 1 < len(words)
                return i > 0 and not (is_other and words[i + 1] in self.after_other_verbs)
            if not (word[0].isupper() or bare in _IN_NAME or bare.endswith("ly")) or word[-1] in ",;:!?":
                return False
        return False


def first_word(text: str) -> str:
    word = _FIRST_WORD.match(text)
    return word[0].rstrip(".") if word else ""


@cache
def read_language(tag: str) -> Language:
    """Return what is known of the language of a BCP 47 tag, of which the first part counts."""
    name = primary_subtag(tag)
    record: dict[str, Any] = {}
    path = Path(__file__).with_name("punkt") / f"{name}.json"
    if name.isalpha() and path.is_file():
        record = json.loads(path.read_text(encoding="utf-8"))
    lists = {field.name: frozenset(record.get(field.name, ())) for field in fields(Language)[1:-1]}
    return Language(punkt=Punkt(record), has_ordinals=record.get("has_ordinals", False), **lists)
