"""Words in capitals: letters said one by one, or words said as words."""

from __future__ import annotations

import re

from pipeline.script.english.acronyms import AS_LETTERS, AS_WORDS, SHORT_WORDS
from pipeline.script.english.calendar import FULL_MONTHS, WEEKDAYS
from pipeline.script.rules import make_rule, text_after, text_before, word_after, word_before

_CAPS = r"[A-ZÀ-ÖØ-Þ]"
_VOWEL = re.compile("[AEIOUYÀ-ÖØ-Ý]")
_VOWEL_BUT_Y = re.compile("[AEIOUÀ-ÖØ-Ý]")
_SYLLABLE = re.compile("[^AEIOUY][AEIOUY][^AEIOUYHJQWX]")
"""Three letters that anyone would say as a word: ZAP."""
_HARD_BEGINNING = re.compile("(?!S[CPTLMNQKW]|SH|TH|CH|PH|WH|[BCFGKPST][LR])[^AEIOUY]{3}")
"""Three consonants that no English word begins with; words do begin with SCHR, STR, THR and their like."""
_ODD_BEGINNING = re.compile("[BDFGJKLMNPQRTVWXZ][BCDFGJKMPQTVXZ]")

_SMALL_WORDS = frozenset(
    """
    a an and as at but by for from in into nor of off on or over so the to under up upon with yet
    """.split()
)
"""Those that a title leaves small."""
_CALENDAR = frozenset((*FULL_MONTHS.split("|"), *WEEKDAYS.values())) - {"May", "March"}
_COMPUTING = frozenset(
    """
    consultant department guy industry manager people professional security specialist staff support team worker
    """.split()
)
"""IT support."""

_SENTENCE_START = re.compile(r"(?:\A|[.!?:]['\")\]]*\s|[.!?]\s?['\"]|\s['\"]|\A['\"]|[—–]\s?)[\"'(\[]*\Z")
_SENTENCE_END = re.compile(r"\.[\"')\]]*\s")
# Another word in capitals next to this one, with a mark or a single letter between them: WAR; AND, WITH A CAT
_CAPS_BEFORE = re.compile(rf"(?<![\w.]){_CAPS}{{2,}}(?:'{_CAPS}+)?[\W_]{{1,4}}(?:[A-Z]\b\W{{1,3}})?\Z")
_CAPS_AFTER = re.compile(rf"[^\w.]{{1,4}}(?:[A-Z]\b\.?[^\w.]{{1,3}})?{_CAPS}{{2,}}(?![a-z])")
# the US, the former US; US Navy, US's, US dollar
_US_BEFORE = re.compile(r"\b(?:[Aa]|the|The|THE|former|current|entire|continental|in the|non)[ -]\Z")
_US_AFTER = re.compile(
    r"\s[A-Z][a-z]|'s\b|-[a-z]|\s(?:and|or|&)\s[A-Z]{2}"
    r"|\s(?!(?:a|an|the|all|both|too|two|three|as|at|by|for|from|if|in|into|is|of|off|on|or|out|over|so|than|that|then|"
    r"this|to|up|was|were|what|when|where|who|why|will|with|and|are|but|about|after|again|alone|and|any|anything|away|"
    r"back|because|before|can|could|do|down|enough|everything|good|had|has|have|he|here|how|it|just|know|like|more|much|"
    r"next|no|not|nothing|now|once|only|right|safe|see|she|some|something|soon|there|they|through|time|today|tonight|"
    r"tomorrow|we|well|while|would|yet|you)\b)[a-z]{3}"
)


def _say_capitals(match: re.Match[str]) -> str | None:
    """A word in capitals: its letters one by one if nobody says it as a word, else in lower or title case."""
    word = match["x"]
    if word in AS_WORDS:
        return word
    is_run = _is_run(match)
    if (not is_run and _is_letters_here(match)) or _is_spelled(word, is_run):
        return word if _SENTENCE_END.match(text_after(match)) else " ".join(word)  # "B C." would look like initials
    if word == "US" and not is_run:
        return "us"
    return _say_as_word(match, is_run)


def _is_run(match: re.Match[str]) -> bool:
    """Whether a word in capitals stands next to another."""
    return bool(_CAPS_BEFORE.search(text_before(match, 30)) or _CAPS_AFTER.match(text_after(match, 30)))


def _is_letters_here(match: re.Match[str]) -> bool:
    """Whether a word that could be either is letters: the US Navy, at nine AM, IT support, the WHO."""
    word, before = match["x"], word_before(match)
    if word == "US":
        return bool(_US_BEFORE.search(text_before(match)) or _US_AFTER.match(text_after(match)))
    if word == "AM":
        return re.fullmatch("[a-z-]+", before) is not None
    if word == "IT":
        return word_after(match) in _COMPUTING
    return word == "WHO" and before.lower() == "the"


def _is_spelled(word: str, is_run: bool) -> bool:
    """Whether nobody would say it as a word. In a run of capitals it is rather one."""
    if word in AS_LETTERS:
        return not (is_run and word.lower() in SHORT_WORDS)
    if word.lower() in SHORT_WORDS:
        return False
    if len(word) <= 3:
        return not (_SYLLABLE.fullmatch(word) or (is_run and _VOWEL.search(word)))
    if not _VOWEL_BUT_Y.search(word):
        return len(set(word)) > 2  # not SHHH
    is_hard = _HARD_BEGINNING.match(word) or (len(word) == 4 and _ODD_BEGINNING.match(word))
    return bool(is_hard and not is_run)


def _say_as_word(match: re.Match[str], is_run: bool) -> str:
    """Titles keep the capitals of a title; a word that is merely loud gets none, unless it begins a sentence."""
    word, before = match["x"], text_before(match, 12)
    if re.search(rf"{_CAPS}-\Z", before):
        return word.lower()
    is_start = _SENTENCE_START.search(before) is not None or word.capitalize() in _CALENDAR
    is_titled = is_run and word.lower() not in _SMALL_WORDS
    return word.capitalize() if is_start or is_titled else word.lower()


def _say_contraction(match: re.Match[str]) -> str:
    """DON'T, I'LL, the BBC'S; names, of which more is left: O'BRIEN, D'ARTAGNAN."""
    first, _, rest = match["x"].partition("'")
    if len(rest) > 2:
        return "'".join([first.capitalize(), *(_capitalize_part(part) for part in rest.split("'"))])
    if first in AS_LETTERS and rest == "S":
        return " ".join(first) + "'s"
    is_start = first == "I" or _SENTENCE_START.search(text_before(match, 12)) or _is_run(match)
    return f"{first.capitalize() if is_start else first.lower()}'{rest.lower()}"


def _capitalize_part(part: str) -> str:
    return part.capitalize() if len(part) > 2 else part.lower()


def _say_plural(match: re.Match[str]) -> str | None:
    """TVs, MPs, UFOs."""
    word = match["x"]
    if not _is_spelled(word, is_run=False):
        return None
    return word if text_after(match).startswith("s.") else " ".join(word)  # "T Vs." would look like versus


RULES = (
    # WHAT A DAY
    make_rule("article", r"(?<=[A-Z]{2} )A(?= [A-Z]{2})", "a", "A"),
    # DON'T, O'BRIEN'S
    make_rule("capitals", rf"(?<![\w.'@/-])(?P<x>{_CAPS}+'{_CAPS}+(?:'{_CAPS}+)?)(?![\w'])", _say_contraction, "'"),
    # TVs
    make_rule("capitals", r"(?<![\w.@'])(?P<x>[A-Z]{2,5})s(?![\w])", _say_plural, "s"),
    make_rule("capitals", rf"(?<![\w@_])(?P<x>{_CAPS}{{2,}}+)(?![\w@_])", _say_capitals),
)
