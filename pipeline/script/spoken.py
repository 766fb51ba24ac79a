"""What the narrator says: written prose made into words and marks that an engine can be given.

A text goes through a table of rules in order. Those that hold in any language come first and last, and those
of its own between them: another language is another tuple in `_LANGUAGES`, which can come from a file of its
own. What no rule reads with certainty (dates, times, versions, R2D2) is left as it is written.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Rule:
    """Every match of `pattern` becomes what `say` returns for it. The patterns are linear on any text."""

    name: str
    pattern: re.Pattern[str]
    say: Callable[[re.Match[str]], str]


def spoken_form(text: str, language: str) -> str:
    """Return `text` as it is to be spoken: white space, quotation marks and dashes alike, numbers in words.

    `language` is a BCP 47 tag, of which the first part counts; one without rules gets only those for any
    language. No letter is lost but those of a number ("24th"), and the spoken form of a spoken form is
    itself. Raises nothing.
    """
    primary = language.replace("_", "-").split("-")[0].lower()
    for rule in (*_ALWAYS_FIRST, *_LANGUAGES.get(primary, ()), *_ALWAYS_LAST):
        text = rule.pattern.sub(rule.say, text)
    return text.strip()


# Any language

_QUOTES = str.maketrans(dict.fromkeys("‘’‚‛‹›", "'") | dict.fromkeys("“”„‟«»", '"'))
_DASH_CHARS = "—―⸺⸻–-"
_CLOSES = re.compile(rf"""\Z|[.,;:!?)\]}}]|["']+(?:[\s.,;:!?)\]}}{_DASH_CHARS}]|\Z)""")
_OPENS = re.compile(rf"""(?:\A|[\s(\[{{{_DASH_CHARS}])["'(\[{{]+\Z""")
_OPENING_MAX = 8


def _say_dash(match: re.Match[str]) -> str:
    """Space a dash alike everywhere, that engines pause; but one that cuts a speech off stays with its word.

    Hyphens, and an en dash without spaces around it, are left as they are.
    """
    run = match[0]
    if not (re.search("[—―⸺⸻]|--", run) or run == " – "):
        return run
    text, start, end = match.string, match.start(), match.end()
    if _CLOSES.match(text, end):
        return "—"
    before = text[max(0, start - _OPENING_MAX) : start]
    is_opened = start == 0 or bool(_OPENS.search(before))
    return "— " if is_opened else " — "


_ALWAYS_FIRST = (
    # Word joiners, byte order marks and soft hyphens: invisible, but they part a word in two for a tokenizer.
    Rule("invisible", re.compile("[\u00ad\u200b\u2060\ufeff]+"), lambda match: ""),
    Rule("white space", re.compile(r"\s+"), lambda match: " "),
    Rule("quotation marks", re.compile("[‘’‚‛‹›“”„‟«»]+"), lambda match: match[0].translate(_QUOTES)),
    Rule("ellipsis", re.compile("…"), lambda match: "..."),
)
_ALWAYS_LAST = (Rule("dashes", re.compile(rf" ?[{_DASH_CHARS}][ {_DASH_CHARS}]*"), _say_dash),)


# English

# fmt: off
_UNITS = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)
_TENS = ("", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
# fmt: on
_SCALES = ((10**12, "trillion"), (10**9, "billion"), (10**6, "million"), (10**3, "thousand"))
_ORDINALS = {
    "one": "first",
    "two": "second",
    "three": "third",
    "five": "fifth",
    "eight": "eighth",
    "nine": "ninth",
    "twelve": "twelfth",
}
_NUM_DIGITS_MAX = 15


def _name_cardinal(number: int) -> str:
    """Return the words for 0 <= number < 10**15: 1200 is "one thousand two hundred"."""
    if number < 20:
        return _UNITS[number]
    if number < 100:
        tens, rest = divmod(number, 10)
        return _TENS[tens] + (f"-{_UNITS[rest]}" if rest else "")
    value, name = next((scale for scale in _SCALES if scale[0] <= number), (100, "hundred"))
    count, rest = divmod(number, value)
    return f"{_name_cardinal(count)} {name}" + (f" {_name_cardinal(rest)}" if rest else "")


def _name_ordinal(number: int) -> str:
    cardinal = _name_cardinal(number)
    last = re.split("[ -]", cardinal)[-1]
    ordinal = _ORDINALS.get(last) or (last[:-1] + "ieth" if last.endswith("y") else last + "th")
    return cardinal.removesuffix(last) + ordinal


def _name_digits(digits: str) -> str:
    return " ".join(_UNITS[int(digit)] for digit in digits)


def _say_integer(written: str) -> str:
    digits = written.replace(",", "")
    if len(digits) > _NUM_DIGITS_MAX or (len(digits) > 1 and digits[0] == "0"):
        return _name_digits(digits)
    return _name_cardinal(int(digits))


def _say_decimal(match: re.Match[str]) -> str:
    return f"{_say_integer(match[1])} point {_name_digits(match[2])}"


def _say_ordinal(match: re.Match[str]) -> str:
    digits = match[1].replace(",", "")
    return match[0] if len(digits) > _NUM_DIGITS_MAX or digits[0] == "0" else _name_ordinal(int(digits))


# A number stands alone: not in a word (R2D2), a sum of money or another rule's matter (#1, 5%), nor joined to
# more figures, which makes it a date, a time, a score, a version or a telephone number.
_JOINS = r"[.,:/'\-–]"
_BEGIN = rf"(?<![\w.$£€¥₹#§^@])(?<![0-9]{_JOINS})"
_END = rf"(?![\w%‰°¢£€¥₹^@])(?!{_JOINS}[0-9])"
_INTEGER = r"([0-9]{1,3}(?:,[0-9]{3})++|[0-9]++)"

_ENGLISH = (
    Rule("ranges", re.compile(r"(?<=[0-9]) ?– ?(?=[0-9])"), lambda match: " to "),
    Rule("ordinals", re.compile(rf"{_BEGIN}{_INTEGER}(?:st|nd|rd|th)(?!\w)", re.IGNORECASE), _say_ordinal),
    Rule("decimals", re.compile(rf"{_BEGIN}{_INTEGER}\.([0-9]++){_END}"), _say_decimal),
    Rule("cardinals", re.compile(rf"{_BEGIN}{_INTEGER}{_END}"), lambda match: _say_integer(match[1])),
)

_LANGUAGES: dict[str, tuple[Rule, ...]] = {"en": _ENGLISH}
