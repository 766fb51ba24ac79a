"""Sentences: cases of our own, what must hold of any text, and the score on the corpus."""

from __future__ import annotations

import json
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.script.sentences import sentence_spans, split_sentences

CORPUS = Path(__file__).parents[3] / "shared" / "corpus" / "sbd"

# A bar stands where a sentence ends.
CASES = [
    "It rained. |We stayed. |Who cared? |Nobody!",
    "“Come in!” he said. |“Sit down.”",
    "“Come in!” I said, and Mrs. Hale obeyed.",
    "“Is it far?” Mr. Brandt asked.",
    "“Is it far?” |Nobody answered.",
    "“Not here!” |“Halloa,” says I, “why not?”",
    "“It is far. |It is too far. |We must turn back.” |She wept.",
    '"You cannot—" |The lamp went out.',
    "“My dear boy—” she began, and stopped.",
    "“ ‘Never.’ ” |That was his word.",
    "(He knew it.) |She did not (who could?) care.",
    "He wrote ‘Gone.’ |Then he left.",
    "It was so … so very cold.",
    "It was cold. … |We went in.",
    "It was cold. . . . |We went in.",
    "The page [...] Was torn.",
    "J. R. R. Hartley met C. A. Long and Miles B. Stone. |They ate.",
    "So do I. |Hannah knows it. |Albert I. Stone does not.",
    "Dr. Will Gray lives on Elm St. |His wife is at St. Mary’s.",
    "He came at 5 p.m. on Monday. |She left at 6 a.m. |They never met.",
    "See no. 5 on p. 12. |No. |Harold refused.",
    "On Dec. 1 it snowed.",
    "It cost $3.50. |We paid.",
    "She has a Ph.D. |It took years.",
    "1. Open the lid. |2. Pour the tea.",
    "1) Milk |2) Eggs |3) Flour",
    "A title without a stop\n\n|It began.",
    "no end.\n\n|and yet a paragraph",
    "他来了。|她走了。",
    "«Où vas-tu ?» |«À Paris.»",
    "",
    " \n ",
]


@pytest.mark.parametrize("case", CASES)
def test_sentences_end_at_the_bars(case: str) -> None:
    expected = [piece.strip() for piece in case.split("|") if piece.strip()]
    assert split_sentences(case.replace("|", ""), "en-GB") == expected


@pytest.mark.parametrize("language", ["", "fr", "xx-YY", "../en", "EN_us"])
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


HOSTILE = ["a.", ".", "”", "-", "—”", ".”", ". ", ". . ", ". “", "\n", "\n ", " ", "Mr. ", "1. ", "I. I", "J. R. ", "é"]


@pytest.mark.parametrize("unit", HOSTILE)
def test_hostile_text_takes_linear_time(unit: str) -> None:
    text = unit * (60_000 // len(unit))
    check_cover(text)


def test_two_megabytes_are_split() -> None:
    text = "“Mr. Hale came at 5 p.m. on Monday,” said J. B. Stone. Then he left … and why? Nobody knew. " * 21_000
    assert len(sentence_spans(text, "en")) == 63_000


def test_nltk_is_loaded_when_first_used() -> None:
    code = "import pipeline.script.sentences, sys; assert 'nltk' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(__file__).parents[2])


def inner_ends(sentences: list[str]) -> set[int]:
    """Count the characters but white space before each end within the text."""
    ends: set[int] = set()
    position = 0
    for sentence in sentences:
        position += len("".join(sentence.split()))
        ends.add(position)
    return ends - {position}


def measure_f1(path: Path) -> float:
    """Return the F1 of the boundaries within the texts; finding an optional one or not changes nothing."""
    num_right = num_wrong = 0
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        optional = {len("".join(row["text"][:end].split())) for end in row.get("optional_boundaries", ())}
        required = inner_ends(row["sentences"]) - optional
        found = inner_ends(split_sentences(row["text"], row["lang"])) - optional
        num_right += len(required & found)
        num_wrong += len(required ^ found)
    return 2 * num_right / (2 * num_right + num_wrong)


@pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus is not here")
@pytest.mark.parametrize(
    ("name", "floor"), [("literary_gold_en", 0.985), ("pysbd_golden_en", 0.92), ("ud_pud_en", 0.99)]
)
def test_boundaries_agree_with_the_corpus(name: str, floor: float) -> None:
    f1 = measure_f1(CORPUS / f"{name}.jsonl")
    print(f"{name} F1 {f1:.4f}")
    assert f1 >= floor
