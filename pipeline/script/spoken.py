"""What the narrator says: written prose made into words and marks that an engine can be given.

A text goes through tables of rules (`rules.py`): those that hold in any language (`characters.py`), those of its own
(`english/`), and the dashes last. Each table is tried on the text as the one before left it, and all of them again
until nothing changes, so that the spoken form of a spoken form is itself. What no rule reads with certainty is left
as it is written: a wrong rewriting is worse than none. Another language is another folder and a line in `_read_rules`.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

from pipeline.script.characters import DASHES, MARKS, SPACES
from pipeline.script.language import primary_subtag
from pipeline.script.rewriting import Rewriting, compose, rewrite
from pipeline.script.rules import Table, find_rewritings

_SPEAKABLE = re.compile(r"[^\W_]")
_SENTENCE_BEFORE = re.compile(r"[^\W\d_]{2}[.!?] [\"'(]*\Z")
_NUM_ROUNDS_MAX = 6
_WITHOUT_WORDS = (Table(SPACES), Table(DASHES))


@dataclass(frozen=True, slots=True)
class Spoken:
    """A text as it is said, and every place where that is not as it is written, in positions of the written text."""

    text: str
    rewritings: tuple[Rewriting, ...]


def speak(text: str, language: str, *, is_heading: bool = False) -> Spoken:
    """Say `text`: numbers, abbreviations and symbols in words; white space, quotation marks and dashes alike.

    `language` is a BCP 47 tag, of which the first part counts; one without rules gets only those for any language. No
    letter is lost but those of what is rewritten. A text of which nothing is said, such as a page mark, becomes an
    ellipsis. Raises nothing.
    """
    tables = _read_tables(primary_subtag(language), is_heading)
    if _SPEAKABLE.search(text) is None:
        tables = _WITHOUT_WORDS
    said = text
    rewritings: tuple[Rewriting, ...] = ()
    num_unchanged = 0  # tables in a row that found nothing: the text is done when all of them have
    for table in itertools.islice(itertools.cycle(tables), _NUM_ROUNDS_MAX * len(tables)):
        if found := _begin_sentences(said, find_rewritings(said, table)):
            rewritings = compose(text, rewritings, found)
            said = rewrite(said, found)
            num_unchanged = 0
        elif (num_unchanged := num_unchanged + 1) == len(tables):
            break
    if not said and _SPEAKABLE.search(text):
        return Spoken("...", (Rewriting(rewritings[0].rule, 0, len(text), "..."),))
    return Spoken(said, rewritings)


def _begin_sentences(text: str, found: Sequence[Rewriting]) -> list[Rewriting]:
    """Figures at the start of a sentence are said with a capital: after a small letter, the one before would go on."""
    begun, end = [], 0
    for one in found:
        is_figure = text[one.start : one.start + 1].isdigit()
        if is_figure and _SENTENCE_BEFORE.search(text, max(end, one.start - 8), one.start):
            one = replace(one, said=one.said[:1].upper() + one.said[1:])
        begun.append(one)
        end = one.end
    return begun


def spoken_form(text: str, language: str) -> str:
    """The text that `speak` makes of a paragraph."""
    return speak(text, language).text


@cache
def _read_tables(language: str, is_heading: bool) -> Sequence[Table]:
    """The tables of a language in their order. Its rules are compiled when first used."""
    if language == "en":
        from pipeline.script.english.table import HEADING_RULES, RULES

        own = Table((*HEADING_RULES, *RULES) if is_heading else RULES)
        return (Table((*SPACES, *MARKS)), own, Table(DASHES))
    return (Table((*SPACES, *MARKS)), Table(DASHES))
