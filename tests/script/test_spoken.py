"""Spoken forms: a table of cases, and what must hold of any text."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pipeline.script import rules, spoken
from pipeline.script.rewriting import Rewriting, rewrite
from pipeline.script.rules import Rule
from pipeline.script.spoken import speak, spoken_form

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
LEFT_ALONE = [
    "1,23",
    "12,3456",
    "a b c",
    "well-known",
    "Mix",
    "I",
    "Malcolm X",
    "o'clock",
    "Hmm. Shh!",
    "B-b-but",
    "T-shirt",
]


@pytest.mark.parametrize(("text", "spoken"), CASES)
def test_english_is_spoken(text: str, spoken: str) -> None:
    assert spoken_form(text, "en-GB") == spoken


@pytest.mark.parametrize("text", LEFT_ALONE)
def test_what_no_rule_is_sure_of_is_left_alone(text: str) -> None:
    assert spoken_form(f"see {text} there", "en") == f"see {text} there"


@pytest.mark.parametrize("language", ["fr", "", "xx"])
def test_other_languages_get_the_general_rules_only(language: str) -> None:
    assert spoken_form("«Oui»—42,  24th", language) == '"Oui" — 42, 24th'


def check_spoken(text: str, language: str = "en") -> None:
    for is_heading in (False, True):
        spoken = speak(text, language, is_heading=is_heading)
        assert rewrite(text, spoken.rewritings) == spoken.text
        assert all(0 <= one.start <= one.end <= len(text) for one in spoken.rewritings)
        assert all(one.end <= after.start for one, after in itertools.pairwise(spoken.rewritings))
        assert speak(spoken.text, language, is_heading=is_heading).text == spoken.text


@given(st.text())
def test_any_text_is_spoken_once_and_every_change_is_recorded(text: str) -> None:
    check_spoken(text)
    check_spoken(text, "fr")


@given(st.text(alphabet="abt h059.,:/'\"“”’()$%#–—-…\u00a0\u2060"))
@example("6th-5")
@example("a@b.5²")
@example("x –— y")
@example('—"--x')
def test_any_run_of_figures_and_marks_is_spoken_once(text: str) -> None:
    check_spoken(text)


# fmt: off
PIECES = [
    "Mr.", "Dr.", "St.", "Co.", "Jr.", "etc.", "e.g.", "i.e.", "No.", "vol.", "p.", "v.", "c.", "U.S.", "B.C.",
    "P.M.", "a.m.", "M.", "J.", "Ph.D.", "&c.", "I", "II", "IV", "XIV", "X", "V", "Henry", "Chapter", "World",
    "War", "Act", "Pope", "the", "of", "in", "a", "Then", "and", "Smith", "King", "Elm", "FBI", "NASA", "US",
    "STOP", "DON'T", "TOM", "MPs", "MP3", "R2D2", "Dec.", "May", "Mon.", "1850", "1984", "1850s", "'90s", "12", "3",
    "2d", "6d.", "10s.", "5th", "1,200", "3.14", ".45", "1/2", "½", "3½", "6:30", "9.15", "3-2", "10–12", "1914–18",
    "$5", "£5", "$1.5bn", "50¢", "100%", "98.6°F", "47°9′", "5km", '6\'2"', "ft.", "in.", "lb", "x²", "10^6", "#",
    "§", "©", "+", "=", "<", ">", "×", "±", "@", "a@b.com", "www.a.org/b", "'", '"', "``", "''", "“", "”", "’", "—",
    "–", "--", "-", "…", ".", ",", ":", ";", "!", "?", "(", ")", "[", "]", "{", "}", "*", "_", "_a_", "=b=", "†",
    "[Pg", "12]", "{12}", ":-)", "😀", "ﬁ", "①", "Ⅳ",
]
# fmt: on


@given(st.lists(st.sampled_from([*PIECES, " ", " ", " "]), max_size=12).map("".join))
def test_any_row_of_what_rules_look_for_is_spoken_once(text: str) -> None:
    check_spoken(text)


@given(st.lists(st.sampled_from(PIECES), max_size=12).map(" ".join))
def test_any_row_of_words_that_rules_look_for_is_spoken_once(text: str) -> None:
    check_spoken(text)


@given(st.lists(st.from_regex("[a-z]{2,9}", fullmatch=True), min_size=1).map(" ".join))
def test_plain_words_stay_as_they_are(text: str) -> None:
    assert [one for one in speak(text, "en").rewritings if one.rule not in ("word", "roman numeral")] == []


# fmt: off
HOSTILE = [
    "1", "1,111,", "1.", "1 ", "-", " -", "— ", "”", "—”", "“—", " ", "1–", "1th", "A", "A.", "A. ", "AB ", "IV ",
    "I, ", "(", "[", "{", "[Illustration", "$1", "Chapter I ", "No. 1 ", "St. ", "Mr. A", "_a ", "*", "=a", "=a ",
    "1/2 ", "12:30 ", "a@", "a.", "http://a", "www.", "'", '1" ', ". ", "… ", "£1 ", "May 3 ", "x^", "<sup>", "&",
    "#1", "Henry V ", "𐀀😀", "A'A", "TO BE ",
]
# fmt: on


@pytest.mark.parametrize("unit", HOSTILE)
def test_hostile_text_is_looked_at_in_proportion_to_its_length(unit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Four times the text is asked about at most four times as often, and over at most as many characters each."""
    looked = {length: count_looks(unit * (length // len(unit)), monkeypatch) for length in (4_000, 16_000)}
    assert looked[16_000] <= 4.5 * looked[4_000] + 4_000


def count_looks(text: str, monkeypatch: pytest.MonkeyPatch) -> int:
    """The tables tried, in characters, and the characters around matches that rules looked at."""
    num_chars = 0

    def find(text: str, table: Sequence[Rule]) -> list[Rewriting]:
        nonlocal num_chars
        num_chars += len(text)
        found = rules.find_rewritings(text, table)
        num_chars += sum(len(one.said) for one in found)
        return found

    monkeypatch.setattr(spoken, "find_rewritings", find)
    speak(text, "en")
    return num_chars
