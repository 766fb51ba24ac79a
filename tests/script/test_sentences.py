"""Sentences: cases of our own, what must hold of any text, and the score on the corpus."""

from __future__ import annotations

import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.bench_sentences import CASES, CORPUS, find_inner_ends, read_rows, score
from pipeline.script.sentences import sentence_spans, split_sentences
from pipeline.script.spoken import spoken_form

STRAIGHT = str.maketrans(dict.fromkeys("‘’‚‛‹›", "'") | dict.fromkeys("“”„‟«»", '"'))


def as_spoken(text: str) -> str:
    """As `spoken_form` writes marks: straight quotes, single spaces, dashes spaced. The characters stay."""
    return re.sub(r"""(?<=[\w,.;:!?])[—–](?=["']?\w)""", " — ", " ".join(text.translate(STRAIGHT).split()))


WRITTEN = {"as written": str, "straight": lambda text: text.translate(STRAIGHT), "spoken": as_spoken}
SETS = {path.stem: read_rows(path) for path in sorted(CASES.glob("*.txt"))}


@pytest.mark.parametrize("written", WRITTEN)
@pytest.mark.parametrize("name", SETS)
def test_sentences_end_where_they_should(name: str, written: str) -> None:
    for row in SETS[name]:
        text = WRITTEN[written](row.text)
        found = split_sentences(text, row.language)
        assert find_inner_ends(found) - row.optional == row.required, (text, found)


def test_what_is_spoken_has_the_sentences_of_what_is_written() -> None:
    for row in (row for name in SETS if name.startswith("en") for row in SETS[name]):
        if not re.search(r"[^\S ]|—|\d|…|[A-Z]\.", row.text):
            # A stop that is an abbreviation's, too, is dropped at the end of a few words: "in Dec." may be a label.
            written = [spoken_form(sentence, "en").rstrip(".") for sentence in split_sentences(row.text, "en")]
            spoken = split_sentences(spoken_form(row.text, "en"), "en")
            assert [sentence.rstrip(".") for sentence in spoken] == written


OTHERS = [
    "A title without a stop\n\n|It began.",
    "no end.\n\n|and yet a paragraph",
    "他来了。|她走了。",
    "「来い。」と言った。|誰も来ない。",
    "",
    " \n ",
]


@pytest.mark.parametrize("case", OTHERS)
def test_paragraphs_and_other_scripts(case: str) -> None:
    expected = [piece.strip() for piece in case.split("|") if piece.strip()]
    assert split_sentences(case.replace("|", ""), "en-GB") == expected


@pytest.mark.parametrize("language", ["", "fr", "de-AT", "xx-YY", "../en", "EN_us"])
def test_any_language_ends_at_a_stop_before_a_capital(language: str) -> None:
    assert split_sentences("Un. Deux? Trois.", language) == ["Un.", "Deux?", "Trois."]


def check_cover(text: str) -> None:
    spans = sentence_spans(text, "en")
    covered = [text[start:end] for start, end in spans]
    assert all(piece and piece == piece.strip() for piece in covered)
    assert all(end <= start for (_, end), (start, _) in pairwise(spans))
    assert "".join("".join(covered).split()) == "".join(text.split())


@given(st.text())
def test_any_text_is_covered_once(text: str) -> None:
    check_cover(text)


@given(st.text(alphabet="aIJ1.!?…—-“”‘’\"'()[] \n\u00a0\u2060。•"))
def test_any_run_of_marks_is_covered_once(text: str) -> None:
    check_cover(text)


# fmt: off
HOSTILE = [
    "'", '"', '" ', "“ ‘", "!A", "... A ", "(1) ", "a. a. a. ", "。」", "a.Ab", "“Go!” A",
    "x-st. Ab ", "a.", ".", "”", "-", "—”", ".”", ". ", ". . ", ". “", "\n",
    "\n ", " ", "Mr. ", "1. ", "I. I", "J. R. ", "é",
]
# fmt: on


@pytest.mark.parametrize("unit", HOSTILE)
def test_hostile_text_takes_linear_time(unit: str) -> None:
    text = unit * (60_000 // len(unit))
    check_cover(text)


def test_marks_after_much_white_space_take_linear_time() -> None:
    check_cover(" " * 100_000 + ". — A" * 20_000)


def test_two_megabytes_are_split() -> None:
    text = "“Mr. Hale came at 5 p.m. on Monday,” said J. B. Stone. Then he left … and why? Nobody knew. " * 21_000
    assert len(sentence_spans(text, "en")) == 63_000


def test_nltk_is_loaded_when_first_used() -> None:
    code = "import pipeline.script.sentences, sys; assert 'nltk' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(__file__).parents[2])


@pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus is not here")
@pytest.mark.parametrize(
    ("name", "floor"),
    [
        ("literary_gold_en", 0.99),
        ("pysbd_golden_en", 0.95),
        ("ud_pud_en", 0.99),
        ("pragmatic_segmenter_en", 0.9),
        ("pysbd_other_langs", 0.88),
    ],
)
def test_boundaries_agree_with_the_corpus(name: str, floor: float) -> None:
    f1, precision, recall = score(read_rows(CORPUS / f"{name}.jsonl"), split_sentences)
    print(f"{name} F1 {f1:.4f}, precision {precision:.4f}, recall {recall:.4f}")
    assert f1 >= floor
