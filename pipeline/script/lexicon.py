"""How names and rare words are said: entries, and where a text has them.

A text is looked at twice (`respell`): as it is written, before any rule of the spoken form, and once more as it is
spoken, for words that only stand there. What an entry says is left as it is by the rules and by other entries.
Files are read by `read_lexicon.py`; docs/lexicon.md is their manual.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from operator import itemgetter
from typing import Literal, NamedTuple

import regex

from pipeline.script.expressions import compile_expression, expand, find_matches
from pipeline.script.language import primary_subtag
from pipeline.script.rewriting import Rewriting, compose, rewrite
from pipeline.script.whole_words import find_beginnings, find_ending, first_word, is_whole, match_word

Case = Literal["any", "exact", "smart"]
Span = tuple[int, int]

_VOICELESS, _SIBILANT = "ptkfθ", "szʃʒʂʐ"


@dataclass(frozen=True, slots=True)
class Entry:
    """A word and how it is said: respelt (`say`), as sounds (`ipa`), or both, of which an engine takes what it can.

    A regular expression (`is_regex`) stands wherever it matches, a part of a word (`is_part`) inside words too.
    Empty `voices`, `engines` and `language` mean all. `place` is where it is written, as `file:line`.
    """

    word: str
    say: str = ""
    ipa: str = ""
    case: Case = "smart"
    is_part: bool = False
    is_regex: bool = False
    voices: tuple[str, ...] = ()
    engines: tuple[str, ...] = ()
    language: str = ""
    place: str = ""

    @property
    def rule(self) -> str:
        """What its rewritings are called."""
        return f"lexicon: {self.word}"

    @property
    def file(self) -> str:
        return self.place.rpartition(":")[0]


class _Found(NamedTuple):
    start: int
    end: int
    order: int
    said: str


@dataclass(frozen=True)
class Lexicon:
    """Entries from the farthest file to the nearest: of two for one word, the last counts.

    `notes` say what of the files isn't used, and why. What was read from files is first to be made one voice's
    (`choose`).
    """

    entries: tuple[Entry, ...] = ()
    notes: tuple[str, ...] = ()

    def choose(self, voice: str, engine: str, *, takes_ipa: bool = False, language: str = "") -> Lexicon:
        """The entries that one voice reads a book by, one a word; what the engine can't take is noted.

        takes_ipa: whether the engine's text may hold sounds, as ⟦ipa⟧. language: the book's, as a BCP 47 tag.
        """
        chosen: dict[str, Entry] = {}
        foreign: Counter[tuple[str, str]] = Counter()
        unsaid: dict[str, list[Entry]] = {}
        for entry in self.entries:
            if (entry.voices and voice not in entry.voices) or (entry.engines and engine not in entry.engines):
                continue
            if entry.language and language and primary_subtag(entry.language) != primary_subtag(language):
                foreign[entry.file, entry.language] += 1
            elif entry.say or takes_ipa:
                chosen.pop(entry.word, None)  # the nearer one also comes later
                chosen[entry.word] = entry if takes_ipa else replace(entry, ipa="")
            else:
                unsaid.setdefault(entry.file, []).append(entry)
        notes = [
            f"lexicon {file}: {name_some(entries)} not used: {engine} takes no ipa, and there is no `say`."
            for file, entries in unsaid.items()
        ]
        notes += [
            f"lexicon {file}: not used, its {number} words are for the language {tag}, and the book's is {language}."
            for (file, tag), number in foreign.items()
        ]
        return Lexicon(tuple(chosen.values()), (*self.notes, *notes))

    def find(self, text: str, kept: Sequence[Span] = ()) -> tuple[Rewriting, ...]:
        """The words of the lexicon in a text, in order, each with what is said for it.

        Where several could stand, the first begins, and of those that begin together the longest stands, or the
        nearest of equals. No character within a `kept` span is touched. Raises `ConfigError` for an expression that
        takes too long, or that stands for nothing at some place of the text.
        """
        blocked = sorted(kept)
        ways = (self._find_words, self._find_parts, self._find_expressions)
        found = [one for find in ways for one in find(text, blocked)]
        found.sort(key=lambda one: (one.start, -one.end, -one.order))
        rewritings = []
        done = 0
        for one in found:
            if one.start >= done:
                rewritings.append(Rewriting(self.entries[one.order].rule, one.start, one.end, one.said))
                done = one.end
        return tuple(rewritings)

    def apply(self, text: str) -> str:
        """`text` with every word of the lexicon as it is said. What was respelt is not looked at again."""
        return rewrite(text, self.find(text))

    def find_used(self, rules: Iterable[str]) -> set[str]:
        """The words whose entries made rewritings by such rules, also where `compose` joined several rules' names."""
        by_rule = {entry.rule: entry.word for entry in self.entries}
        used = set()
        for rule in set(rules):
            parts = rule.split(", ")
            joined = (", ".join(parts[i:j]) for i in range(len(parts)) for j in range(i + 1, len(parts) + 1))
            used |= {by_rule[one] for one in joined if one in by_rule}
        return used

    def unused(self, used: set[str]) -> list[Entry]:
        """The entries whose word isn't among these."""
        return [entry for entry in self.entries if entry.word not in used]

    def _find_words(self, text: str, blocked: Sequence[Span]) -> Iterator[_Found]:
        table = self._by_beginning
        for start, beginning in find_beginnings(text):
            for pattern, order in table.get(beginning, ()):
                match = pattern.match(text, start)
                if match and is_whole(text, start, match.end()) and not _overlaps(start, match.end(), blocked):
                    yield self._say(text, start, match.end(), order)
                    break

    def _find_parts(self, text: str, blocked: Sequence[Span]) -> Iterator[_Found]:
        for order, part in self._parts:
            for match in part.finditer(text):
                if not _overlaps(match.start(), match.end(), blocked):
                    yield self._say(text, match.start(), match.end(), order)

    def _find_expressions(self, text: str, blocked: Sequence[Span]) -> Iterator[_Found]:
        for order, expression in self._expressions:
            entry = self.entries[order]
            for match in find_matches(expression, text, entry.place):
                if _overlaps(match.start(), match.end(), blocked):
                    continue
                if entry.ipa:
                    yield self._say(text, match.start(), match.end(), order)
                else:
                    yield _Found(match.start(), match.end(), order, expand(entry.say, match, entry.place))

    def _say(self, text: str, start: int, end: int, order: int) -> _Found:
        """A capital that begins the word in the text is kept where the respelling begins in lower case."""
        entry = self.entries[order]
        if entry.ipa:
            ending = find_ending(text, end)
            sounds = (entry.ipa + _ending_sounds(entry.ipa, ending)).split()
            return _Found(start, end + len(ending) + bool(ending), order, " ".join(f"⟦{word}⟧" for word in sounds))
        said = entry.say
        if entry.case != "exact" and text[start].isupper():
            said = said[0].upper() + said[1:]
        return _Found(start, end, order, said)

    @cached_property
    def _by_beginning(self) -> dict[str, list[tuple[re.Pattern[str], int]]]:
        """The entries by the first word or mark of theirs, the longest first: one pattern for a thousand
        entries took minutes a book."""
        table: dict[str, list[tuple[re.Pattern[str], int]]] = {}
        plain = [(len(one.word), order) for order, one in enumerate(self.entries) if not one.is_regex | one.is_part]
        for _, order in sorted(plain, reverse=True):
            entry = self.entries[order]
            table.setdefault(first_word(entry.word), []).append((match_word(entry.word, entry.case), order))
        return table

    @cached_property
    def _parts(self) -> list[tuple[int, re.Pattern[str]]]:
        parts = [(order, one) for order, one in enumerate(self.entries) if one.is_part]
        return [(order, match_word(one.word, one.case)) for order, one in parts]

    @cached_property
    def _expressions(self) -> list[tuple[int, regex.Pattern[str]]]:
        return [
            (order, compile_expression(one.word, one.case)) for order, one in enumerate(self.entries) if one.is_regex
        ]


def respell(text: str, lexicon: Lexicon, speak: Callable[[str], Sequence[Rewriting]]) -> tuple[Rewriting, ...]:
    """How a text is said, by a lexicon and by the rules of the spoken form (`speak`), as rewritings of it.

    The lexicon comes first, so that its words are found as an author sees them in the book (`Dr. Foo`, `1984`). The
    rules then read the text with those words respelt, and leave them as they are; but a word inside something longer
    that a rule reads, such as a web address, is the rule's. Last come the lexicon's words that the rules brought in.
    """
    first = lexicon.find(text)
    respelt = rewrite(text, first)
    kept = _said_spans(first)
    spoken = [*speak(respelt)]
    if longer := [(one.start, one.end) for one in spoken if _reaches_beyond(one, kept)]:
        first = tuple(one for one, span in zip(first, kept, strict=True) if not _overlaps(*span, longer))
        respelt = rewrite(text, first)
        kept = _said_spans(first)
        spoken = [*speak(respelt)]
    spoken = [one for one in spoken if not _overlaps(one.start, one.end, kept)]
    second = lexicon.find(rewrite(respelt, spoken), _shift(kept, spoken))
    return compose(text, compose(text, first, spoken), second)


def name_some(entries: Sequence[Entry]) -> str:
    """Entries of one file for a person: the first few by word and line."""
    named = ", ".join(f"{entry.word!r} (line {entry.place.rpartition(':')[2]})" for entry in entries[:5])
    return named + (f" and {len(entries) - 5} more" if len(entries) > 5 else "")


def _overlaps(start: int, end: int, spans: Sequence[Span]) -> bool:
    """Whether a range shares a character with one of such spans, in order, or lies within one."""
    i = bisect_left(spans, end, key=itemgetter(0))
    return i > 0 and spans[i - 1][1] > start


def _reaches_beyond(one: Rewriting, spans: Sequence[Span]) -> bool:
    """Whether a rewriting covers something of one of such spans, in order, and something outside of it."""
    i = bisect_left(spans, one.end, key=itemgetter(0)) - 1
    return _overlaps(one.start, one.end, spans) and not spans[i][0] <= one.start <= one.end <= spans[i][1]


def _said_spans(rewritings: Sequence[Rewriting]) -> list[Span]:
    """Where what is said lies in the text as it is said."""
    spans = []
    growth = 0
    for one in rewritings:
        start = one.start + growth
        spans.append((start, start + len(one.said)))
        growth += len(one.said) - (one.end - one.start)
    return spans


def _shift(spans: Sequence[Span], rewritings: Sequence[Rewriting]) -> list[Span]:
    """Where spans that no rewriting touches lie in the text as it is said."""
    shifted = []
    growth = i = 0
    for start, end in spans:
        while i < len(rewritings) and rewritings[i].end <= start:
            growth += len(rewritings[i].said) - (rewritings[i].end - rewritings[i].start)
            i += 1
        shifted.append((start + growth, end + growth))
    return shifted


def _ending_sounds(ipa: str, ending: str) -> str:
    """How English says what is added to a word that ends in such a sound."""
    if ending == "s":
        last = ipa.rstrip("ːˑ")[-1:]
        return "ɪz" if last in _SIBILANT else "s" if last in _VOICELESS else "z"
    return {"": "", "d": "d", "ll": "əl", "ve": "əv", "re": "ɚ"}[ending]
