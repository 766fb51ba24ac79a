"""Letters with stops: J. R. R. Tolkien, U.S.A., p.m., Ph.D."""

from __future__ import annotations

import re

from pipeline.script.english.context import STARTER, keep_stop, spell
from pipeline.script.rules import make_rule, text_after, text_before, with_stops

_STOPPED_LETTERS = with_stops("abcdefghijklmnopqrstuvwxyzàáâäçèéêëìíîïñòóôöøùúûüý")
_DEGREES = {"Ph": "P H", "Sc": "S C", "Ed": "E D"}
"""Parts of degrees that are said letter by letter; the others (Litt, Phil) are said as they are written."""
_LETTERED = re.compile(
    r"\b(?i:vitamin|plan|class|type|grade|section|part|appendix|figure|exhibit|group|block|hepatitis|option|point|room|"
    r"schedule|team|company|train|line|unit|letter|model|note|key|string|major|minor|flat|sharp)s? \Z"
)
"""Plan B. Then: what a single letter belongs to."""
_BEFORE_INITIALS = re.compile(
    r"(?:\A|[.!?] |[\"'(—] ?|\b[A-ZÀ-Þ][\w'.]+ |\b(?:by|of|and|to|with|from|that|when|&|for|as|in|is|was) )\Z"
)
"""A name or a word that names follow, or nothing of the sentence."""
_NAME_AFTER = re.compile(rf" (?!{STARTER})[A-ZÀ-Þ]")


def _say_joined(match: re.Match[str]) -> str:
    """R&D is "R and D"."""
    return " and ".join(" ".join(part) for part in match["x"].split("&"))


def _say_dotted(match: re.Match[str]) -> str | None:
    """U.S.A., F.B.I., A.M.: the letters, and the stop where a sentence ends."""
    letters = "".join(re.findall(r"[^\W\d_]", match["x"])).upper()
    if letters in ("PS", "PPS", "NB"):
        return " ".join(letters)
    # After a degree no name follows, nor after "5 p.m.".
    ends = letters in ("MD", "BA", "MA") or (letters in ("BC", "AD", "PM", "AM") and _follows_number(match))
    return spell(letters, keep_stop(match, before_any_capital=ends) if match["x"].endswith(".") else "", match)


def _say_dotted_plural(match: re.Match[str]) -> str:
    """M.P.s, M.P.'s."""
    return " ".join(re.findall("[A-Z]", match["x"])) + ("'s" if "'" in match["x"] else "s")


def _say_half_of_day(match: re.Match[str]) -> str:
    """p.m. without a time before it, or with one in words."""
    stop = keep_stop(match, before_any_capital=_follows_number(match))
    return spell(match["x"][0].upper() + "M", stop, match)


def _follows_number(match: re.Match[str]) -> bool:
    return re.search(r"[0-9][^A-Za-z]*\Z", text_before(match, 12)) is not None


def _say_degree(match: re.Match[str]) -> str:
    """Ph.D., Litt.D."""
    parts = re.findall("[A-Za-z]+", match["x"])
    stop = keep_stop(match, before_any_capital=False) if match["x"].endswith(".") else ""
    return " ".join(_DEGREES.get(part, part) for part in parts) + stop


def _say_initials(match: re.Match[str]) -> str | None:
    """J. R. R. Tolkien; George W. Bush; I met V. and Mi. Not "Plan B. Then", nor "So do I. He"."""
    letters = re.findall(r"[^\W\d_]", match["x"])
    said = " ".join(letters)
    if len(letters) == 1:
        return said if _is_initial(letters[0], text_before(match), text_after(match)) else None
    return said if _NAME_AFTER.match(text_after(match)) else said + keep_stop(match, before_any_capital=False)


def _is_initial(letter: str, before: str, after: str) -> bool:
    """Whether a letter and its stop are a name cut short, rather than the end of a sentence."""
    if re.match(r" [a-z]|,|;|:|[!?]", after):  # the sentence goes on
        return letter not in "IAO" or re.search(r"[A-Z]\w+ \Z", before) is not None
    if letter == "I" and not re.match(r" [A-Z]\.", after) and not re.search(r"\b(?:[A-Z]\. |[A-Z][a-z]+ )\Z", before):
        return False
    is_between_names = _NAME_AFTER.match(after) and _BEFORE_INITIALS.search(before)
    return bool(is_between_names and not _LETTERED.search(before))


EARLY_RULES = (
    make_rule(
        "letters",
        r"(?<![\w'&])(?P<x>AT&T|A&P|R&B|R&D|B&B|B&O|Q&A|M&M|P&O|S&P|A&E|D&D|H&M|P&L|B&W|M&S)(?!\w)",
        _say_joined,
        "&",
    ),
)

RULES = (
    # PhD, PhDs
    make_rule("degree", r"(?<![\w.])(?P<x>PhD)(?=s?\b)", "P H D", "P"),
    make_rule(
        "degree",
        r"(?<![\w.])(?P<x>Ph\. ?D\.?|D\.Phil\.|D\.Sc\.|B\.Sc\.|M\.Sc\.|Litt\. ?D\.|M\.Ed\.|Ed\.D\.)(?!\w)",
        _say_degree,
        with_stops(["d", "ph", "phil", "sc", "ed"]),
    ),
    # at nine p.m., A. M.
    make_rule("letters", r"(?<![\w.'])(?P<x>[AaPp]\. ?[Mm]\.)(?!\w)", _say_half_of_day, with_stops(["m"])),
    # M.P.s
    make_rule("letters", r"(?<![\w.'])(?P<x>(?:[A-Z]\.){2,}'?s)\b", _say_dotted_plural, "."),
    # U.S.A., U.S.A, J.-P., F.B.I
    make_rule(
        "letters",
        r"(?<![\w.'])(?P<x>(?:[A-Z]\.){2,}(?:[A-Z]\b(?![\w']))?|(?:[A-Z]\.-?){2,}|[A-Z](?:\.[A-Z])+\b(?!\w))(?!\w)",
        _say_dotted,
        _STOPPED_LETTERS,
    ),
    # 10P.S.
    make_rule("letters", r"(?<=[0-9])(?P<x>P\.S\.)", "P S", "P"),
    # The same spaced, where it isn't a name
    make_rule(
        "letters",
        r"(?<![\w.'])(?<![A-Z]\. )(?P<x>(?:B\. C|A\. D|U\. S|P\. M|A\. M|N\. Y|M\. P|U\. S\. A|U\. K|P\. S|M\. D|"
        r"B\. C\. E)\.)(?!\w)",
        _say_dotted,
        _STOPPED_LETTERS,
    ),
    # J. R. R. Tolkien, George W. Bush
    make_rule(
        "initials",
        r"(?<![\w.'&])(?P<x>(?:[A-ZÀ-Þ]\. ){1,5}[A-ZÀ-Þ]\.|[A-ZÀ-Þ]\.)(?!\w)(?!\.)",
        _say_initials,
        _STOPPED_LETTERS,
    ),
    make_rule(
        "letters",
        r"(?<![\w.'&])(?P<x>q\.v\.|p\.p\.|s\.v\.|r\.s\.v\.p\.|n\.d\.|d\.v\.)",
        _say_dotted,
        with_stops(["v", "p", "d"]),
    ),
)
