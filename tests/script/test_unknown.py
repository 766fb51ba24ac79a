"""Words that no dictionary knows."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.script.unknown import unknown_words


def test_names_and_coinages_are_found_once_and_in_order():
    text = "Zorvik met Quellandra. “Zorvik’s blorfing again,” said Quellandra, and the thrumblewick sang."
    assert unknown_words(text, "en-GB") == ["Zorvik", "Quellandra", "blorfing", "thrumblewick"]


@pytest.mark.parametrize(
    "text",
    [
        "The captain’s mates’ well-worn boots; he’d gone, they’ve gone, we don’t.",
        "Stopping, baked, happily, bushiness, unbuttoned, outrunning, darkest, wolfish, goin’ and comin’.",
        "The gaoler’s honour, neighbours, a theatre, recognised, travelled, a cheque, mouldy, realising.",
        "LONDON BURNED. London, london.",
        "Chapter XLIV of Henry VIII, the FBI, the 24th of May, 1850s, J. R. R.",
        "Hmm. Psst! Shh. A naïve café.",
        "",
    ],
)
def test_what_has_a_known_base_is_not_reported(text):
    assert unknown_words(text, "en") == []


def test_a_word_in_capitals_is_reported_as_it_is_written_elsewhere():
    assert unknown_words("ZORVIKKA spoke. A zorvikka spoke.", "en") == ["zorvikka"]


def test_other_languages_have_their_own_dictionary_or_none():
    assert unknown_words("Der alte Mann ging über die Brücke zu Quorbelhain.", "de") == ["Quorbelhain"]
    assert unknown_words("Xyzzq plugh.", "tlh") == []


@given(st.text())
def test_any_text_can_be_asked_about(text):
    found = unknown_words(text, "en")
    assert len(found) == len({word.casefold() for word in found})


def test_the_dictionary_is_not_loaded_before_it_is_asked():
    code = "import sys, pipeline.script.unknown; print('spellchecker' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
