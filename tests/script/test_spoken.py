"""Spoken forms: a table of cases, and what must hold of any text."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pipeline.script.spoken import spoken_form

CASES = [
    ("  two \n words\u00a0here ", "two words here"),
    ("half\u00adway\u2060", "halfway"),
    ("‘Don’t,’ she said", "'Don't,' she said"),
    ("„Ja“ «Oui» “Yes”", '"Ja" "Oui" "Yes"'),
    ("goin’ with ’em", "goin' with 'em"),
    ("wait … what?", "wait ... what?"),
    ("he came—no, she left", "he came — no, she left"),
    ("he came -- no – she", "he came — no — she"),
    ("“I thought—” he said", '"I thought—" he said'),
    ("“I thought —” he said", '"I thought—" he said'),
    ("he said—“have you”", 'he said — "have you"'),
    ("I thought—", "I thought—"),
    ("—So you came", "— So you came"),
    ("“—and then", '"— and then'),
    ("a well-known half-truth", "a well-known half-truth"),
    ("0 and 7 and 42", "zero and seven and forty-two"),
    ("1,200 or 1200", "one thousand two hundred or one thousand two hundred"),
    ("1000000", "one million"),
    ("12,000,017", "twelve million seventeen"),
    ("007", "zero zero seven"),
    ("1" * 16, " ".join(["one"] * 16)),
    ("3.14", "three point one four"),
    ("1,200.05", "one thousand two hundred point zero five"),
    ("the 24th, 1st, 2nd, 3rd", "the twenty-fourth, first, second, third"),
    ("12th 20th 100th 1,000th", "twelfth twentieth one hundredth one thousandth"),
    ("rows 10–12", "rows ten to twelve"),
    ("a 5-year-old", "a five-year-old"),
    ("42—no", "forty-two — no"),
]
LEFT_ALONE = ["R2D2", "MP3", "H2O", "1.2.3", "$1,200", "£5", "100%", "6:30", "2/3", "555-1234", "1850s", "1,23", "#1"]


@pytest.mark.parametrize(("text", "spoken"), CASES)
def test_english_is_spoken(text: str, spoken: str) -> None:
    assert spoken_form(text, "en-GB") == spoken


@pytest.mark.parametrize("text", LEFT_ALONE)
def test_what_no_rule_is_sure_of_is_left_alone(text: str) -> None:
    assert spoken_form(f"see {text} there", "en") == f"see {text} there"


@pytest.mark.parametrize("language", ["fr", "", "xx"])
def test_other_languages_get_the_general_rules_only(language: str) -> None:
    assert spoken_form("«Oui»—42,  24th", language) == '"Oui" — 42, 24th'


def check_spoken(text: str) -> None:
    spoken = spoken_form(text, "en")
    assert spoken_form(spoken, "en") == spoken
    letters = iter(filter(str.isalpha, spoken))
    written = filter(str.isalpha, re.sub(r"[0-9](?:st|nd|rd|th)", "", text, flags=re.IGNORECASE))
    assert all(letter in letters for letter in written), "a letter was lost"


@given(st.text())
def test_any_text_keeps_its_letters_and_is_spoken_once(text: str) -> None:
    check_spoken(text)


@given(st.text(alphabet="abt h059.,:/'\"“”’()$%#–—-…\u00a0\u2060"))
@example("6th-5")
@example("x –— y")
@example('—"--x')
def test_any_run_of_figures_and_marks_is_spoken_once(text: str) -> None:
    check_spoken(text)


@pytest.mark.parametrize("unit", ["1", "1,111", "1.", "-", " -", "— ", "”", "—”", "“—", " ", "1–", "1th"])
def test_hostile_text_takes_linear_time(unit: str) -> None:
    spoken_form(unit * (60_000 // len(unit)), "en")
