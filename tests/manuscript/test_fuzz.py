"""Broken books and random texts are planned or refused in one sentence. `make fuzz` tries 20,000 of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fuzz import run_case


@pytest.mark.parametrize("kind", ["epub", "text"])
@pytest.mark.parametrize("first", range(0, 80, 40))
def test_broken_inputs_are_planned_or_refused(tmp_path: Path, kind: str, first: int) -> None:
    results = [run_case(kind, seed, tmp_path) for seed in range(first, first + 40)]
    assert [result for result in results if result.fault] == []
