"""St. and Dr., which are saints and doctors before a name, and streets and drives after one."""

from __future__ import annotations

import re

from pipeline.script.english.context import STARTER, keep_stop
from pipeline.script.rules import make_rule, text_after, text_before, with_stops, word_before

_STREET_NAME_BEFORE = re.compile(
    r"(?<![.!?] )(?<![.!?]['\"] )\b(?!(?:The|In|At|On|To|Of|By|And|From|Near|With|For|Under|Over|Our|Old|New|Via|"
    r"But|As|If|When)\b)(?:[A-Z][a-z']{2,}|[0-9]+(?:st|nd|rd|th|d)) \Z"
)
"""Dean St., 42nd St.; not "Sir. St. John"."""
_AFTER_PLACE = re.compile(r"\b(?:off|down|along|across|into|up) (?:[A-Z]\w+ ){1,2}\Z")
"""Off Dean St. Turn left."""
_ON_A_STREET = re.compile(rf"\b[0-9]+(?:[A-D])? (?:[A-Z]\w+ ){{1,2}}\Z|{_AFTER_PLACE.pattern}")
"""22 Dean St. London."""
_HOUSE_BEFORE = re.compile(r"\b(?:[0-9]+|[Tt]he) (?:[NSEW]\.? )?[A-Z]\w+ \Z")
"""12 N. King Dr."""


def _say_saint(match: re.Match[str]) -> str | None:
    before, after = text_before(match), text_after(match)
    is_street = word_before(match)[1:].replace("'", "").isalnum() and _STREET_NAME_BEFORE.search(before)
    is_before_name = re.match(rf"\s(?!{STARTER})[A-ZÀ-Þ]|-[A-Z]", after)
    if is_street and not is_before_name:
        return "Street" + (keep_stop(match, before_any_capital=False) if match["x"].endswith(".") else "")
    if is_street and _ON_A_STREET.search(before) and re.match(r"\s[A-Z]", after):
        return "Street" + ("." if _AFTER_PLACE.search(before) else "")
    return "Saint" if re.match(r"\s[A-ZÀ-Þ]|-[A-Z]", after) else None


def _say_doctor(match: re.Match[str]) -> str:
    """King Dr. is a street, Dr. King a person; so is "the Dr."."""
    before, after = text_before(match), text_after(match)
    is_street = _STREET_NAME_BEFORE.search(before) and not re.match(rf"\s(?!{STARTER})[A-Z]", after)
    if is_street or (_HOUSE_BEFORE.search(before) and re.match(rf"\s{STARTER}", after)):
        return "Drive" + keep_stop(match, before_any_capital=False)
    return "Doctor" if re.match(r"\s\S|[,;'-]", after) else "Doctor" + keep_stop(match)


RULES = (
    make_rule("street or saint", r"\b(?<![\w'])(?P<x>(?:St|ST)\b\.?)(?=[\s,;:!?)\"'-]|\.?\Z)", _say_saint, "S"),
    make_rule("title", r"\b(?<![\w'])(?P<x>(?:Dr|DR)\.)", _say_doctor, with_stops(["dr"])),
)
