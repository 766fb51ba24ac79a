"""How a lexicon's sounds are written for Piper, and that a manuscript's brackets are none."""

from __future__ import annotations

import pytest

from pipeline.engines import registry
from pipeline.script.script import Boundary
from pipeline.voices import read_voice


@pytest.mark.parametrize(
    ("text", "prepared"),
    [
        ("He met ⟦ˈægnɪs⟧ there", "He met [[ˈæɡnɪs]] there."),
        ("⟦nuː⟧ ⟦jɔːk⟧", "[[nuː]] [[jɔːk.]]"),
        # Piper says what is between two of them for itself, and would lose a mark that begins it.
        ("⟦a⟧, he said. ⟦a⟧. Then “⟦a⟧!” she", "[[a,]] he said. [[a.]] Then “[[a!]]” she."),
        ('"⟦a⟧," he — ⟦a⟧ — said (⟦a⟧).', "[[a,]] he — [[a,]] said [[a.]]"),
        ("⟦ça⟧", "[[c\u0327a.]]"),
        ("See [[Main Page]] and [1].", "See [ [Main Page]] and [1]."),
    ],
)
def test_sounds_as_piper_takes_them(text: str, prepared: str) -> None:
    frontend = registry.open_frontend(read_voice("joe"))
    assert frontend.spec.takes_ipa
    assert frontend.prepare(text, Boundary.SENTENCE) == prepared
