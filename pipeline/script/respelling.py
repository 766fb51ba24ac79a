r"""What an expression's respelling says of a match: `\1` and `\g<name>` stand for its groups, `\\` for a backslash."""

from __future__ import annotations

import re

import regex

from pipeline.errors import ConfigError

_REFERENCE = re.compile(r"\\(?:([0-9]{1,2})|g<(\w+)>|(\\)|)")


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
