"""What docs/lexicon.md shows is what happens."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pipeline.script.read_lexicon import EntryKeys, read_lexicon
from tests.conftest import ROOT

MANUAL = (ROOT / "docs" / "lexicon.md").read_text(encoding="utf-8")
SHOWN = re.findall(r"^\| `(.*)` \| (.*) \| (.*) \|$", MANUAL.split("## Several lexicons")[0], re.MULTILINE)
EXAMPLES = [row for row in SHOWN if ": " in row[0]]


@pytest.mark.parametrize(("entry", "written", "said"), EXAMPLES, ids=[row[0] for row in EXAMPLES])
def test_each_example_is_said_so(tmp_path: Path, entry: str, written: str, said: str) -> None:
    (tmp_path / "names.yaml").write_text(entry, encoding="utf-8")
    assert read_lexicon(tmp_path / "names.yaml").apply(written) == said


def test_there_are_examples_and_all_files_shown_are_lexicons(tmp_path: Path) -> None:
    assert len(EXAMPLES) == 11
    files = re.findall(r"```yaml\n(.*?)```", MANUAL, re.DOTALL)
    assert len(files) == 2
    for text in files:
        (tmp_path / "names.yaml").write_text(text, encoding="utf-8")
        assert read_lexicon(tmp_path / "names.yaml").entries


def test_every_key_is_told() -> None:
    table = MANUAL[MANUAL.index("| key | what |") :].split("\n\n")[0]
    told = {name for row in table.splitlines() for name in re.findall(r"`(\w+)`", row.split("|")[1])}
    assert told == set(EntryKeys.model_fields)
