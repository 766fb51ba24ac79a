"""What holds in any language: quotes, dashes, ellipses and spaces alike, and marks that nobody says dropped."""

from __future__ import annotations

import re
import unicodedata

from pipeline.script.quotes import DOUBLE_MARKS, SINGLE_MARKS
from pipeline.script.rules import Rule, make_rule, text_after, text_before

_SINGLE = f"{SINGLE_MARKS}`"
_QUOTES = str.maketrans(dict.fromkeys(_SINGLE, "'") | dict.fromkeys(DOUBLE_MARKS, '"'))
_DASHES = "—―⸺⸻–-"
_CLOSES = re.compile(rf"""\Z|[.,;:!?)\]}}]|["']+(?:[\s.,;:!?)\]}}{_DASHES}]|\Z)""")
_OPENS = re.compile(rf"""(?:\A|[\s(\[{{{_DASHES}])["'(\[{{]+\Z""")
_OPENING_MAX = 8
_POWER_BEFORE = re.compile(r"[0-9]\Z|(?<![^\W_])[^\W\d_]\Z")
_LONG_DASH = re.compile("[—―⸺⸻]|--")
# Pictures, dingbats and their joiners; ♭ ♮ ♯ are said, and the figures in circles are figures.
_PICTURES = (
    "\U0001f000-\U0001f0ff\U0001f1e6-\U0001faff\u2190-\u21ff\u2600-\u266c\u2670-\u2775\u2794-\u27bf\u2b00-\u2bff\u25a0-\u25ff\u2022"
    "\u20e3\ufe0e\ufe0f"
)
_COMPATIBLE = "ﬀ-ﬆ０-９Ａ-Ｚａ-ｚ₀-₉℃℉㎀-㏟①-⓿❶-➓㉑-㊿𝐀-𝟿ʰʳˢᵈᵉᵗⁿ"
_ACCENTS = "".join(map(chr, range(0x300, 0x370)))
_ALL = "".join(map(chr, range(0x80, 0x20000)))


def _say_quotes(match: re.Match[str]) -> str:
    """Straight marks; two single ones are a double one (``so'' in LaTeX)."""
    return match[0].translate(_QUOTES).replace("''", '"')


def _say_compatible(match: re.Match[str]) -> str:
    """Ligatures opened, and wide, circled and mathematical letters and figures as plain ones."""
    return "".join(
        str(int(unicodedata.numeric(char))) if "❶" <= char <= "➓" else unicodedata.normalize("NFKC", char)
        for char in match[0]
    )


def _drop(match: re.Match[str]) -> str:
    """Nothing, or a space where two words would become one."""
    before, after = text_before(match, 1), text_after(match, 1)
    return " " if before.isalnum() and after.isalnum() else ""


def _say_raised(match: re.Match[str]) -> str:
    """A power where a figure or a single letter is raised (10<sup>6</sup>), else the mark of a note."""
    return f"^{match[1]}" if _POWER_BEFORE.search(text_before(match, 2)) else ""


def _drop_underscores(match: re.Match[str]) -> str | None:
    """The marks of emphasis, also of a part of a word; not those within a name (snake_case, a@b_c.org)."""
    is_inside = text_before(match, 1).isalnum() and text_after(match, 1).isalnum()
    return None if is_inside else ""


def _say_dash(match: re.Match[str]) -> str:
    """Space a dash alike everywhere, that engines pause; but one that cuts a speech off stays with its word.

    Hyphens, and an en dash without spaces around it, are left as they are.
    """
    run = match[0]
    if not (_LONG_DASH.search(run) or run == " – "):
        return run
    if _CLOSES.match(match.string, match.end()):
        return "—"
    is_opened = match.start() == 0 or _OPENS.search(text_before(match, _OPENING_MAX))
    return "— " if is_opened else " — "


SPACES: tuple[Rule, ...] = (
    # Word joiners, byte order marks and soft hyphens: invisible, but they part a word in two for a tokenizer.
    make_rule("invisible", "[\u00ad\u200b\u200e\u200f\u2060\ufeff\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f]+", ""),
    make_rule(
        "figures in groups",
        "(?<=[0-9])(?P<x>[\u00a0\u2009\u202f\u2007])(?=[0-9]{3}(?![0-9]))",
        "",
        "\u00a0\u2009\u202f\u2007",
    ),
    make_rule("white space", r"\s{2,}|[^\S ]", " "),
    make_rule("comma", "(?<=\\w)‚(?= )", ",", "‚"),
    make_rule("quotation marks", f"[{_SINGLE}{DOUBLE_MARKS}]+|'{{2,}}", _say_quotes, _SINGLE + DOUBLE_MARKS + "'"),
    make_rule("ellipsis", r"(?:…|\.(?: ?[.…]){2})(?: ?[.…])*+", "...", ".…"),
)
"""What is alike in every text, also in one without a letter or a figure."""

MARKS: tuple[Rule, ...] = (
    make_rule("tag", r"<sup>(-?[0-9]{1,4})</sup>", _say_raised, "<"),
    make_rule("tag", r"</?(?:i|b|u|em|strong|small|span|sup|sub|br)\s?/?>", "", "<"),
    make_rule("illustration", r"\[(?:Illustration|Blank Page)\b[^\[\]]{0,1000}+\]", "", "[", re.IGNORECASE),
    make_rule("page mark", r"\[(?:Pg|Page|p)\.? ?[0-9ivxlc]+\]|\{[0-9ivxlc]+\}", "", "[{", re.IGNORECASE),
    make_rule("ligature", r"(?<=[^\W_])\[(?P<in>ae|oe)\]|\[(?P<at>ae|oe)\](?=[^\W_])", lambda m: m[0][1:-1], "[", re.I),
    make_rule("note mark", "[†‡⁂❦❧☙]++|¶(?! ?[0-9IVXivx])", _drop, "†‡¶⁂❦❧☙"),
    make_rule("note mark", r"(?:(?<=[^\W\d_]{3})|(?<=[.,;:!?\"')]))\[[0-9]{1,3}\](?![^\W_])", "", "["),
    make_rule("note mark", r"(?<![0-9])\*++|\*++(?![0-9])", _drop, "*"),
    make_rule("note mark", "(?:(?<=[^\\W\\d_]{3})|(?<=[.,;:!?\"')]))[¹²³⁰⁴-⁹]++(?![^\\W_])", "", "¹²³⁰⁴⁵⁶⁷⁸⁹"),
    make_rule("emphasis", r"(?<![^\W_])_+([^\W_]+)_+(?=[^\W_])", lambda match: match[1], "_"),
    make_rule("emphasis", r"(?<=[^\W_])_+([^\W_]+)_+(?![^\W_])", lambda match: match[1], "_"),
    make_rule("emphasis", "_+", _drop_underscores, "_"),
    make_rule("emphasis", r"(?<![^\s\"'(])=([^\W\d_](?:[^=]*[^=\s])?)=(?![^\W_=])", lambda match: match[1], "="),
    make_rule("smiley", r"(?<!\S)[:;=]['o]?-?[)(DPp/|\]](?=[\s.,!?]|\Z)", "", ":;="),
    make_rule("pictures", f"(?: ?[{_PICTURES}]\u200d?)++", _drop, re.findall(f"[{_PICTURES}]", _ALL)),
    make_rule("compatible characters", f"[{_COMPATIBLE}]+", _say_compatible, re.findall(f"[{_COMPATIBLE}]", _ALL)),
    make_rule("accents", f"[^\\W\\d_][{_ACCENTS}]++", lambda match: unicodedata.normalize("NFC", match[0]), _ACCENTS),
)
"""Marks of printers, transcribers and markup that a narrator doesn't say."""

DASHES: tuple[Rule, ...] = (
    make_rule("dashes", rf" ?[{_DASHES}][ {_DASHES}]*", _say_dash, _DASHES),
    make_rule("white space", r"\A\s+|\s+\Z", ""),
)
