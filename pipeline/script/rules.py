"""Tables of rules over a text, and what is known of the place that a rule matched."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from pipeline.script.rewriting import Rewriting

_DOTTED = re.compile(r"[^\W_]{1,8}\.")
_WORD_AFTER = re.compile(r"[ -]([\w']+)")


@dataclass(frozen=True, slots=True)
class Rule:
    """Each match of `pattern` is said as `say` returns it; None leaves it to the rules that follow.

    Where the pattern has a group `x`, that alone is rewritten, and the rest is only looked at. A text is searched only
    if it has one of each group of `needs`: characters, or words with their full stop, in lower case. The patterns, and
    what `say` looks at, are linear on any text.
    """

    name: str
    pattern: re.Pattern[str]
    say: Callable[[re.Match[str]], str | None]
    needs: tuple[frozenset[str], ...] = ()


def make_rule(
    name: str,
    pattern: str,
    say: str | Callable[[re.Match[str]], str | None],
    needs: Iterable[str] | tuple[Iterable[str], ...] = (),
    flags: int = 0,
) -> Rule:
    """A rule from its pattern. A `say` that is a string is said as it is; `needs` is one group or a tuple of them."""
    function = say if callable(say) else lambda match: say
    groups = needs if isinstance(needs, tuple) else (needs,)
    return Rule(name, re.compile(pattern, flags), function, tuple(frozenset(group) for group in groups if group))


def with_stops(words: Iterable[str]) -> list[str]:
    """Abbreviations as what a rule `needs`."""
    return [f"{word.lower()}." for word in words]


def any_of(words: Iterable[str]) -> str:
    """Words as the alternatives of a pattern, the longest first."""
    return "|".join(map(re.escape, sorted(words, key=len, reverse=True)))


class Table:
    """Rules in the order in which they are tried."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self._rules = tuple(rules)
        self._wanted = frozenset(feature for rule in rules for group in rule.needs for feature in group)
        # Texts have few sets of features, and a book has thousands of texts: asking every rule took half the time.
        self._rules_with = lru_cache(4096)(self._find_rules_with)

    def choose(self, text: str) -> tuple[Rule, ...]:
        """The rules that a text has something for."""
        features = set(text)
        if "." in features:
            features.update(map(str.lower, _DOTTED.findall(text)))
        return self._rules_with(self._wanted & features)

    def _find_rules_with(self, features: frozenset[str]) -> tuple[Rule, ...]:
        return tuple(rule for rule in self._rules if not any(map(features.isdisjoint, rule.needs)))


def find_rewritings(text: str, table: Table) -> list[Rewriting]:
    """What the rules make of a text, in its order. A character belongs to the first rule that takes it."""
    taken = bytearray(len(text))
    found = []
    for rule in table.choose(text):
        group = _rewritten_group(rule.pattern)
        for match in rule.pattern.finditer(text):
            start, end = match.span(group)
            if start == end or taken.find(1, start, end) >= 0:
                continue
            said = rule.say(match)
            if said is None:
                continue
            taken[start:end] = b"\1" * (end - start)
            if said != text[start:end]:
                found.append(Rewriting(rule.name, start, end, said))
    found.sort(key=lambda one: one.start)
    return found


def text_before(match: re.Match[str], num_chars: int = 40) -> str:
    """The characters before what is rewritten."""
    start = match.start(_rewritten_group(match.re))
    return match.string[max(0, start - num_chars) : start]


def text_after(match: re.Match[str], num_chars: int = 40) -> str:
    """The characters after what is rewritten."""
    end = match.end(_rewritten_group(match.re))
    return match.string[end : end + num_chars]


def word_before(match: re.Match[str]) -> str:
    """The word before what is rewritten, with its stop; empty where more than one space or a mark lies between."""
    before = text_before(match, 20)
    if before[-1:] not in (" ", "-"):
        return ""
    return re.split(r"[ \-(\"]", before[:-1])[-1]


def word_after(match: re.Match[str]) -> str:
    """The word after what is rewritten and a space, without what follows it."""
    after = text_after(match, 20)
    found = _WORD_AFTER.match(after)
    return found[1] if found else ""


def _rewritten_group(pattern: re.Pattern[str]) -> str | int:
    return "x" if "x" in pattern.groupindex else 0
