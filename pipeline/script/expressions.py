r"""A lexicon's regular expressions: searched in bounded time, and what their respelling says of a match.

In it `\1` and `\g<name>` stand for groups, and `\\` for a backslash.
"""

from __future__ import annotations

import re
import time

import regex

from pipeline.errors import ConfigError

SEARCH_SECONDS = 1.0
"""The most that one expression may take for one text, of its thread's own time: a paragraph takes microseconds."""

_REFERENCE = re.compile(r"\\(?:([0-9]{1,2})|g<(\w+)>|(\\)|)")


def compile_expression(expression: str, case: str) -> regex.Pattern[str]:
    """In any case where `case` is `any`. Raises `regex.error`, or `RecursionError` where it is nested too deep."""
    return regex.compile(expression, regex.IGNORECASE if case == "any" else 0)


def find_matches(pattern: regex.Pattern[str], text: str, place: str) -> list[regex.Match[str]]:
    """All matches in a text. Raises `ConfigError` where it takes too long, or where nothing is matched somewhere."""
    began = time.thread_time()
    limit = SEARCH_SECONDS
    while True:
        try:
            found = [*pattern.finditer(text, timeout=limit)]
            break
        except TimeoutError:
            # The package counts the time of all threads: with a model beside it, far more than this search took.
            if time.thread_time() - began >= SEARCH_SECONDS:
                raise ConfigError(
                    f"{place}: {pattern.pattern!r} takes more than {SEARCH_SECONDS:g} s for one paragraph, "
                    f"{text[:40]!r}: write it so that each character can be matched in one way only."
                ) from None
            limit *= 8
    if any(match.start() == match.end() for match in found):
        raise ConfigError(f"{place}: {pattern.pattern!r} matches nothing, as in {text[:40]!r}: it must match text.")
    return found


def find_fault(say: str, pattern: regex.Pattern[str]) -> str:
    """What is wrong with a respelling for an expression, as the end of a sentence; empty if nothing."""
    for reference in _REFERENCE.finditer(say):
        number, name, backslash = reference.groups()
        if number or (name and name.isdecimal()):
            if int(number or name) > pattern.groups:
                return f"{reference[0]} stands for a group, and the expression has {pattern.groups}"
        elif name:
            if name not in pattern.groupindex:
                return f"the expression has no group {name!r}"
        elif not backslash:
            return r"a backslash stands before a group, as in \1 or \g<name>; write \\ for the character"
    return ""


def expand(say: str, match: regex.Match[str], place: str) -> str:
    """What is said for a match. Raises `ConfigError` where nothing would be."""

    def fill(reference: re.Match[str]) -> str:
        number, name, backslash = reference.groups()
        if backslash:
            return backslash
        return match[int(number) if number else int(name) if name.isdecimal() else name] or ""

    said = _REFERENCE.sub(fill, say).strip()
    if not said:
        raise ConfigError(f"{place}: nothing would be said for {match[0]!r}: the groups of {say!r} are empty there.")
    return said
