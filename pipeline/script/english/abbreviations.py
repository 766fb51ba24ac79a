"""Abbreviated words: e.g., viz., etc., vs., MSS."""

from __future__ import annotations

import re
from collections.abc import Callable

from pipeline.script.english.context import keep_stop, like_case
from pipeline.script.rules import any_of, make_rule, with_stops

# fmt: off
_WORDS = {
    "altho": "although", "approx": "approximately", "bldg": "building", "cf": "compare", "dept": "department",
    "esp": "especially", "et al": "et al", "et seq": "et sequens", "etc": "et cetera", "gov't": "government",
    "govt": "government", "ibid": "ibidem", "illus": "illustrated", "incl": "including", "loc. cit": "loco citato",
    "misc": "miscellaneous", "op. cit": "opere citato", "prox": "proximo", "tho": "though", "ult": "ultimo",
    "viz": "namely", "vs": "versus",
}
# fmt: on
_LEADING = frozenset("approx cf esp incl viz vs".split())
"""Those after which a sentence always goes on."""


def _says(said: str) -> Callable[[re.Match[str]], str]:
    """A rule's `say`: the words with the capital and the comma that are written (E.g., i.e.,)."""
    return lambda match: like_case(match[0], said) + ("," if match[0].endswith(",") else "")


def _says_stop(said: str, *, before_any_capital: bool = True) -> Callable[[re.Match[str]], str]:
    """A rule's `say` for a pattern that ends with a stop: the words, and the stop where it ends a sentence."""
    return lambda match: said + keep_stop(match, before_any_capital=before_any_capital)


def _say_word(match: re.Match[str]) -> str | None:
    word = match["x"].rstrip(".")
    if word in ("Tho", "Ult", "ESP"):  # names cut short, and letters
        return None
    stop = "" if word.lower() in _LEADING else keep_stop(match)
    return like_case(word, _WORDS[word.lower()]) + stop


RULES = (
    # e.g., E. g., eg.
    make_rule("latin", r"\b[Ee]\. ?[Gg]\.,?|\beg\.(?=[ ,])", _says("for example"), with_stops(["g", "eg"])),
    make_rule("latin", r"\b[Ii]\. ?[Ee]\.,?|\bie\.(?=[ ,])", _says("that is"), with_stops(["e", "ie"])),
    make_rule("latin", r"(?<!, )\bN\. ?B\.(?!\w)", _says("nota bene"), with_stops(["b"])),
    make_rule("latin", r"\ba\. ?k\. ?a\.(?!\w)", _says("also known as"), with_stops(["a"])),
    # Smith v. Jones, Smith v. the Crown
    make_rule("versus", r"(?<=[A-Za-z.'] )(?P<x>v\.)(?= (?:the |[A-Z]))", "versus", with_stops(["v"])),
    make_rule("versus", r"(?<![\w.'])(?P<x>vs\.?)(?= )", "versus", "v"),
    # Mk IX, Mk. 2
    make_rule("mark", r"\b(?P<x>M[kK]\.?)(?= ?(?:[IVX]+\b|[0-9]))", "Mark", "M"),
    # the 5th inst.
    make_rule("instant", r"(?<=[0-9dhst] )(?P<x>inst\.)", _says_stop("instant"), with_stops(["inst"])),
    make_rule("per cent", r"\bper cent\.(?=\W)", _says_stop("per cent"), with_stops(["cent"])),
    make_rule("per annum", r"\bper ann\.", _says_stop("per annum"), with_stops(["ann"])),
    make_rule(
        "manuscript",
        r"(?<![\w'])(?P<x>MS\.)(?!\w)",
        _says_stop("manuscript", before_any_capital=False),
        with_stops(["ms"]),
    ),
    make_rule(
        "manuscript",
        r"(?<![\w'])(?P<x>MSS\.)(?!\w)",
        _says_stop("manuscripts", before_any_capital=False),
        with_stops(["mss"]),
    ),
    make_rule(
        "word",
        rf"(?<![\w'.&-])(?P<x>(?i:{any_of(_WORDS)})\.)(?!\w)",
        _say_word,
        with_stops(re.split(r"[ ']", word)[-1] for word in _WORDS),
    ),
    make_rule("word", r"(?<![\w'.&-])(?P<x>etc)(?![\w.'])", "et cetera", "e"),
)
