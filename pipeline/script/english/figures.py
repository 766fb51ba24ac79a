"""Figures alone: telephone numbers, versions, fractions, ranges, ordinals, decimals and cardinals."""

from __future__ import annotations

import re

from pipeline.script.english.numbers import (
    BEGIN,
    DIGITS,
    INTEGER,
    VULGAR,
    name_amount,
    name_cardinal,
    name_digits,
    name_fraction,
    name_integer,
    name_label,
    name_ordinal,
)
from pipeline.script.rules import make_rule, text_after, word_after, word_before

_END = r"(?![\w%‰°¢£€¥₹^@])(?![.,:/'\-–][0-9])"
"""Where one may end, for the same reasons: 5%, 5/6."""
_SAID_AS_PAIRS = {"9/11", "7/7", "24/7", "50/50", "20/20", "60/40", "40/60", "4/4", "1/6"}
_SCORES = frozenset(
    """
    a ahead beat beaten beats behind by decision defeat defeated down draw drawn drew ended final finished lead leading
    leads led lose loses lost ruled score scored tie tied trailed trailing up victory vote voted win wins won
    """.split()
)
"""Before a score: won 3-2."""
_SCORED = frozenset(
    """
    decision defeat draw favor favour favourite lead loss majority odds record ruling score split tie victory vote win
    """.split()
)
"""After one: a 3-2 win."""
_CALLING = frozenset("call called calling calls dial dialled dialed dialling dialing phone phoned ring rang".split())
"""Before the number of the police."""
PLACES = frozenset(
    """
    Apartment Apt Apt. Area Bay Boeing Bus Cell Channel Extension Flight Gate Highway Interstate Room Route Squadron
    Suite Train Unit Ward
    """.split()
)
"""Room 101: before a number that is read as the number of a house is."""
ADDRESS_AFTER = re.compile(
    r"\s(?:[NSEW]\.?\s|North\s|South\s|East\s|West\s)?(?:[A-Z][\w'.]*\s|[0-9]+(?:st|nd|rd|th|d)\s){1,3}"
    r"(?:Street|St|Avenue|Ave|Road|Rd|Lane|Ln|Drive|Dr|Place|Court|Ct|Boulevard|Blvd|Square|Terrace|Crescent|Row|"
    r"Way|Expressway|Expy|Highway|Parkway)\b"
)
"""1428 Elm Street, 1428 N. 5th Ave."""


def _say_phone(match: re.Match[str]) -> str:
    groups = re.findall("[0-9]+", match[0])
    words = [name_cardinal(int(group)) if group in ("800", "900") else name_digits(group) for group in groups]
    return ("plus " if match[0][0] == "+" else "") + ", ".join(words)


def _say_dotted(match: re.Match[str]) -> str:
    """1.2.3 is a version or a section; four groups that fit are an address of the internet."""
    groups = match[0].split(".")
    if len(groups) == 4 and all(len(group) <= 3 for group in groups) and any(len(group) == 3 for group in groups):
        return " dot ".join(name_digits(group) for group in groups)
    return " point ".join(name_integer(group) for group in groups)


def _say_groups(match: re.Match[str]) -> str:
    """978-0-14-303943-3: figure by figure, a pause between the groups."""
    return ", ".join(name_digits(group) for group in match[0].split("-"))


def _say_fraction(match: re.Match[str]) -> str | None:
    numerator, denominator = int(match["top"]), int(match["bottom"])
    is_pair = match[0] in _SAID_AS_PAIRS and not text_after(match).startswith(" of ")
    if is_pair or denominator < 2 or match["top"][0] == "0" or match["bottom"][0] == "0":
        return f"{name_integer(match['top'])} {name_integer(match['bottom'])}"
    if word_before(match) in ("on", "dated") and numerator <= 12 and denominator <= 31:
        return None
    if numerator >= denominator or denominator > 100:
        return f"{name_cardinal(numerator)} over {name_cardinal(denominator)}"
    return name_fraction(numerator, denominator)


def _say_mixed(match: re.Match[str]) -> str:
    return name_amount(match[0])


def _say_range(match: re.Match[str]) -> str | None:
    """10-12 upwards is a range, 3-2 downwards a score; upwards too where a game or a vote is spoken of."""
    first, last = match["first"], match["last"]
    if len(last) > 4 and "," not in last and len(first) < len(last):
        return f"{name_digits(first.replace(',', ''))}, {name_digits(last)}"
    if max(len(first), len(last)) > 15:
        return f"{name_digits(first.replace(',', ''))}, {name_digits(last.replace(',', ''))}"
    low, high = int(first.replace(",", "")), int(last.replace(",", ""))
    is_score = word_before(match).lower() in _SCORES or word_after(match) in _SCORED
    is_falling = low >= high and match["joint"] == "-"
    is_shortened = last[0] == first[0] and len(last) < len(first)  # 112-15
    joint = " to "
    if any(part[0] == "0" and len(part) > 1 for part in (first, last)):
        joint = ", "  # a code: 007-12
    elif (is_score and max(low, high) < 200) or (is_falling and not is_shortened):
        joint = " "
    return f"{name_integer(first)}{joint}{name_integer(last)}"


def _say_ordinal(match: re.Match[str]) -> str | None:
    digits = match[1].replace(",", "")
    if len(digits) > 15 or (digits[0] == "0" and len(digits) > 1):
        return None
    return name_ordinal(int(digits))


def _say_old_ordinal(match: re.Match[str]) -> str | None:
    """2d and 3d, as Americans wrote them."""
    return name_ordinal(int(match[1])) if len(match[1]) <= 15 else None


def _say_label(match: re.Match[str]) -> str | None:
    written, letter = match["x"].rstrip("ABCDE"), match["letter"]
    word, after = word_before(match), text_after(match, 60)
    if letter:
        return f"{name_label(written)} {letter}" if re.match(r"\s[A-Z]", after) or word in PLACES else None
    if len(written) == 5:
        return name_digits(written) if len(word) == 2 and word.isupper() else None
    return name_label(written) if word in PLACES or ADDRESS_AFTER.match(after) else None


def _say_mixture(match: re.Match[str]) -> str | None:
    """R2D2, MP3, H2O, B-52, 5A: the letters and the numbers by turns. Letters of one case apart if they are few."""
    parts = re.findall(r"[0-9]+|[^\W\d_]+", match[0])
    if not (parts[1:] and any(part[0].isdecimal() for part in parts)):
        return None
    return " ".join(map(_name_part, parts))


def _name_part(part: str) -> str:
    if part.isdecimal():
        return name_digits(part) if len(part) > 4 else name_integer(part)
    return " ".join(part) if part.isupper() and len(part) <= 3 else part


def _say_grouped(match: re.Match[str]) -> str:
    """10 000, 1 234 567."""
    return name_integer(match[0].replace(" ", ""))


def _say_emergency(match: re.Match[str]) -> str | None:
    """Dial 999."""
    return name_digits(match["x"]) if word_before(match).lower() in _CALLING else None


def _say_cardinal(match: re.Match[str]) -> str:
    return name_integer(match[0])


EARLY_RULES = (
    # (555) 123-4567, +1 555-123-4567
    make_rule(
        "telephone",
        r"(?<![\w.,$£€/-])(?:\+?[0-9]{1,3}[ .-]?)?(?:\([0-9]{3}\)[ -]?|"
        r"[0-9]{3}([.-]))[0-9]{3}[.-][0-9]{4}(?:-[0-9]{1,4})?(?![\w-]|\.[0-9])",
        _say_phone,
        DIGITS,
    ),
    # 555-1234
    make_rule("telephone", r"(?<![\w.,$£€/+-])[0-9]{3}-[0-9]{4}(?![\w/-]|[.,][0-9])", _say_phone, (DIGITS, "-")),
    # +44 20 7946 0958, 020 7946 0958
    make_rule(
        "telephone",
        r"(?<![\w.,$£€/-])(?:\+[0-9]{1,3}(?:[ -][0-9]{2,5}){2,5}|0[0-9]{2,4} [0-9]{3,4} [0-9]{3,4})(?![\w-]|\.[0-9])",
        _say_phone,
        DIGITS,
    ),
    # 978-0-14-303943-3
    make_rule("figures", r"(?<![\w.,$£€/-])(?:[0-9]{1,7}-){3,5}[0-9]{1,7}(?![\w-])", _say_groups, (DIGITS, "-")),
    # 123-45-6789
    make_rule("figures", r"(?<![\w.,$£€/-])[0-9]{3}-[0-9]{2}-[0-9]{4}(?![\w-])", _say_groups, (DIGITS, "-")),
    # v2.0
    make_rule("version", r"(?<![\w.-])v(?=[0-9]{1,3}\.[0-9])", "version ", (DIGITS, "v")),
    make_rule(
        "emergency number",
        r"(?<=[a-z] )(?P<x>[0-9]11|999|112)(?![\w]|[.,:-][0-9])",
        _say_emergency,
        (DIGITS, "19"),
    ),
    # 1.2.3, 192.168.0.1
    make_rule(
        "version", r"(?<![\w.,$£€/-])[0-9]{1,4}(?:\.[0-9]{1,4}){2,6}(?![\w]|\.[0-9])", _say_dotted, (DIGITS, ".")
    ),
)
"""Before measures: figures whose joints are no arithmetic."""

RULES = (
    # 10 000, 1 234 567
    make_rule(
        "cardinals",
        r"(?<![\w.,$£€/-])(?<![0-9] )[1-9][0-9]{0,2}(?:(?: [0-9]{3})++(?<= 000)|(?: [0-9]{3}){2,}+)(?![\w.,/:-]|"
        r"\s[0-9])",
        _say_grouped,
        DIGITS,
    ),
    # 101, 1428, 221B
    make_rule(
        "number of a place",
        r"(?<![\w.,$£€/'-])(?P<x>[0-9]{3,5}(?P<letter>[A-E])?)(?![\w'-]|[.,:][0-9])",
        _say_label,
        DIGITS,
    ),
    # 3½, 3 1/2
    make_rule(
        "mixed number",
        rf"{BEGIN}{INTEGER}(?:[ -]?[{VULGAR}]|[ -][0-9]{{1,2}}/[0-9]{{1,2}})(?![\w/]|[.,][0-9])",
        _say_mixed,
        (DIGITS, "/" + VULGAR),
    ),
    # ½ an hour, ½-mile
    make_rule("fraction", r"(?<![\w/])½(?= an? |-[a-z])", "half", "½"),
    make_rule("fraction", rf"[{VULGAR}](?![\w])", _say_mixed, VULGAR),
    # 2/3, 1/10th
    make_rule(
        "fraction",
        r"(?<![\w.,$£€¥#/-])(?P<top>[0-9]{1,3}) ?[/⁄] ?(?P<bottom>[0-9]{1,3})(?:ths?|rds?|nds?)?(?![\w/%]|[.,-][0-9])",
        _say_fraction,
        (DIGITS, "/⁄"),
        re.I,
    ),
    # 1st, 1,000th
    make_rule("ordinals", rf"{BEGIN}({INTEGER})(?:st|nd|rd|th|ND|RD|TH|ST)(?!\w)", _say_ordinal, DIGITS),
    make_rule("ordinals", r"(?<![\w.$£€,-])([0-9]*[23])d(?![\w])(?!\.? ?[0-9])", _say_old_ordinal, (DIGITS, "d")),
    # 10-12, 10–12, 3-2
    make_rule(
        "range",
        rf"{BEGIN}(?P<first>{INTEGER})(?P<joint> ?[–—] ?|-)(?P<last>{INTEGER})(?![\w%‰°^@]|[./,:'–-][0-9])",
        _say_range,
        (DIGITS, "-–—"),
    ),
    make_rule("ranges", r"(?<=[0-9]) ?– ?(?=[0-9])", " to ", (DIGITS, "–")),
    make_rule("decimals", rf"{BEGIN}{INTEGER}\.[0-9]++{_END}", _say_mixed, (DIGITS, ".")),
    make_rule("decimals", rf"(?<![\w.,$£€¥#§^@])\.[0-9]++{_END}", _say_mixed, (DIGITS, ".")),
    make_rule("cardinals", rf"{BEGIN}{INTEGER}{_END}", _say_cardinal, DIGITS),
    # -5, −5
    make_rule("minus", r"(?:(?<=[\s(\[=])|\A)[-−](?=[$£€]?\.?[0-9])|−(?= ?[0-9a-z])", "minus ", "-−"),
    # R2D2, MP3, B-52, 5A
    make_rule(
        "figures and letters",
        r"(?<![\w.@/#$£€¥%^&-])(?=[0-9A-Za-z-]*[0-9])(?=[0-9A-Za-z-]*[A-Za-z])(?:[0-9]{1,6}[A-Za-z]{1,3}|"
        r"[A-Za-z]{1,6}-?[0-9]{1,6})(?:-?[A-Za-z]{1,3}[0-9]{1,4}){0,3}[A-Za-z]?(?![\w%^@]|[.,:/-][0-9])",
        _say_mixture,
        DIGITS,
    ),
)
