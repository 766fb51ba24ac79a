"""The spoken form against tables of readings that others wrote: `benchmarks/spoken_gold.py` prints them."""

from __future__ import annotations

import pytest

from benchmarks.spoken_gold import TABLES, is_accepted, read_rows
from pipeline.script.spoken import speak


def judge(name: str) -> tuple[int, list[str]]:
    path = TABLES / name
    if not path.is_file():
        pytest.skip("the shared corpus is not here")
    rows = list(read_rows(path))
    wrong = [
        f"{category}: {written!r} is said {speak(written, 'en').text!r}, not {' || '.join(accepted)!r}"
        for category, written, accepted in rows
        if not is_accepted(written, accepted)
    ]
    return len(rows), wrong


def test_the_pitfalls_of_audiobooks_are_said_as_a_narrator_would():
    num_rows, wrong = judge("audiobook_pitfalls_en.tsv")
    assert num_rows >= 100
    assert len(wrong) <= 0.05 * num_rows, "\n".join(wrong)


def test_the_readings_of_an_assistant_are_said_where_a_narrator_agrees():
    num_rows, wrong = judge("nemo_en.tsv")
    assert len(wrong) <= 0.3 * num_rows, "\n".join(wrong)
