"""What is abbreviated before a number: No. 10, vol. ii, p. 12, c. 1600; and after one: 3 vols., 8vo."""

from __future__ import annotations

import re

from pipeline.script.english.context import keep_stop, like_case
from pipeline.script.english.numbers import DIGITS
from pipeline.script.rules import any_of, make_rule, text_after, with_stops

# fmt: off
_REFERENCES = {
    "app": "appendix", "apt": "apartment", "art": "article", "arts": "articles", "b": "born", "bk": "book",
    "bks": "books", "c": "circa", "ca": "circa", "ch": "chapter", "chap": "chapter", "chaps": "chapters",
    "chs": "chapters", "d": "died", "ext": "extension", "fig": "figure", "figs": "figures", "fl": "flourished",
    "ll": "lines", "n": "note", "nn": "notes", "no": "number", "nos": "numbers", "op": "opus", "p": "page",
    "par": "paragraph", "para": "paragraph", "pg": "page", "pgs": "pages", "pl": "plate", "pp": "pages", "pt": "part",
    "pts": "parts", "r": "reigned", "sc": "scene", "sec": "section", "secs": "sections", "sect": "section",
    "ver": "verse", "vol": "volume", "vols": "volumes", "vv": "verses",
}
_BOOK_SIZES = {"4to": "quarto", "8vo": "octavo", "12mo": "duodecimo", "16mo": "sextodecimo"}
# fmt: on
_DATED = frozenset("b c ca d fl r".split())
"""Only before a year."""
_ALSO_WORDS = frozenset("app art c ca ext ll n op par pl pt pts sec secs ver".split())
"""Only before figures or a small numeral."""
_YEAR_AFTER = re.compile(r"\s?[0-9]{3,4}(?![0-9,])|\s?[0-9]+ [AB]\.?")
_COUNTED_AFTER = re.compile(
    r"\s[0-9,]+ (?!(?:was|is|has|had|of|in|on|and|or|to|at|as|his|its|the|does|looks|"
    r"stands)\b)[a-z]*(?:s|men|people)\b"
)


def _say_reference(match: re.Match[str]) -> str | None:
    """No. 10; but "No. 10 men came" begins with a sentence."""
    word, after = match["x"].rstrip("."), text_after(match)
    is_followed_by_pronoun = re.match(r"\s?[Ii]\s(?![—–])", after)
    is_initial = word.isupper() and len(word) < 3 and word not in ("NO", "CH")
    is_answer = word in ("No", "no", "art") and _COUNTED_AFTER.match(after)
    if is_followed_by_pronoun or is_initial or is_answer:
        return None
    if word.lower() in _DATED and not _YEAR_AFTER.match(after):
        return None
    if word.lower() in _ALSO_WORDS and not re.match(r"\s?[0-9IVXivx]", after):
        return None
    return like_case(word, _REFERENCES[word.lower()]) + ("" if after[:1] == " " else " ")


def _say_volumes(match: re.Match[str]) -> str:
    return ("volumes" if match["x"] == "vols." else "volume") + keep_stop(match)


def _say_book_size(match: re.Match[str]) -> str:
    return _BOOK_SIZES[match["x"]]


RULES = (
    # No. 10, VOL. II, p.12
    make_rule(
        "reference",
        rf"(?<![\w'.&-])(?P<x>(?i:{any_of(_REFERENCES)})\.)(?=\s?[0-9]|\s[ivxlcIVXLC]+\b)",
        _say_reference,
        with_stops(_REFERENCES),
    ),
    # 3 vols.
    make_rule("reference", r"(?<=[0-9] )(?P<x>vols?\.)(?!\w)", _say_volumes, with_stops(["vol", "vols"])),
    make_rule("book size", r"(?<!\w)(?P<x>4to|8vo|12mo|16mo)(?!\w)", _say_book_size, DIGITS),
    # № 5, N° 5
    make_rule("number", r"(?<!\w)(?:№|N[°º]) ?(?=[0-9])", "number ", "№N"),
)
