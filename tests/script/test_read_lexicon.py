"""Lexicon files in YAML: what they may say, and their faults all at once, with their lines."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.errors import ConfigError
from pipeline.script.lexicon import Entry
from pipeline.script.read_lexicon import own_lexicon, read_lexicon, read_lexicons


def write(folder: Path, text: str) -> Path:
    path = folder / "names.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_keys_and_values_are_strings(tmp_path: Path) -> None:
    path = write(tmp_path, "\ufeffno: noe\n23:30: half past\n1984: ninety  # the book\n'C++': see\n")
    assert [(entry.word, entry.say) for entry in read_lexicon(path).entries] == [
        ("no", "noe"),
        ("23:30", "half past"),
        ("1984", "ninety"),
        ("C++", "see"),
    ]


def test_all_that_can_be_said_of_a_word(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        r"""
Cravech: {say: kravvek, ipa: /ˈkrævɛk/, voices: [alba, joe], engines: pocket}
mc: {say: mick, part: true, case: exact}
'\b(\d+)mm\b': {say: '\1 millimetres', regex: yes, case: any}
"Zoe\u0308": zoh ee
""",
    )
    assert read_lexicon(path).entries == (
        Entry("Cravech", "kravvek", "ˈkrævɛk", voices=("alba", "joe"), engines=("pocket",), place=f"{path}:2"),
        Entry("mc", "mick", case="exact", is_part=True, place=f"{path}:3"),
        Entry(r"\b(\d+)mm\b", r"\1 millimetres", case="any", is_regex=True, place=f"{path}:4"),
        Entry("Zoë", "zoh ee", place=f"{path}:5"),
    )


def test_an_empty_file_is_an_empty_lexicon(tmp_path: Path) -> None:
    assert read_lexicon(write(tmp_path, "# nothing yet\n")).apply("as it is") == "as it is"


def test_the_last_file_counts(tmp_path: Path) -> None:
    far, near = tmp_path / "far.yaml", tmp_path / "near.yaml"
    far.write_text("gif: far\nFoo: fou\n")
    near.write_text("gif: near\n")
    assert read_lexicons([far, near]).choose("alba", "pocket").apply("gif Foo") == "near Fou"


def test_all_faults_are_told_at_once(tmp_path: Path) -> None:
    path = write(tmp_path, "a: b\n'': c\na: d\ne: [f]\ng:\n[h]: i\n")
    with pytest.raises(ConfigError) as caught:
        read_lexicon(path)
    lines = str(caught.value).splitlines()
    assert [line.split(": ")[0] for line in lines] == [f"{path}:{number}" for number in (2, 3, 4, 5, 6)]
    assert "a: stands here twice" in lines[1]


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ("a: {}", ":1: 'a' has neither `say` nor `ipa`"),
        ("a: {voices: joe}", ":1: 'a' has neither"),
        ("a: {says: b}", ":1: says: unknown key (did you mean say?)"),
        ("a:\n  say: b\n  case: smrat", ":3: case: must be 'any', 'exact' or 'smart', not 'smrat'"),
        ("a:\n  say: b\n  part: perhaps", ":3: part: must be yes or no, not 'perhaps'"),
        ("a:\n  say: [b]", ":2: say: must be one value"),
        ("a:\n  say: ''", ":2: say: is empty"),
        ("a:\n  ipa: ' '", ":2: ipa: is empty"),
        ("a:\n  ipa: '[[b]]'", ":2: ipa: must be sounds alone"),
        ("a:\n  say: b\n  voices: ['']", ":3: voices: is empty"),
        ("a:\n  say: b\n  engines: []", ":3: engines: must not be empty"),
        ("'(a': {say: b, regex: true}", ":1: '(a' is no regular expression: missing ) at position 2"),
        ("'a*': {say: b, regex: true}", ":1: 'a*' matches nothing at all"),
        ("'$': {say: b, regex: true}", ":1: '$' matches nothing at all"),
        ("a:\n  regex: true\n  say: '\\1'", r":3: say: \1 stands for a group, and the expression has 0"),
        ("(a):\n  regex: true\n  say: '\\g<b>'", ":3: say: the expression has no group 'b'"),
        ("(a):\n  regex: true\n  say: '\\n'", ":3: say: a backslash stands before a group"),
        ("a:\n  regex: true\n  say: b\n  part: true", ":4: part: an expression says itself"),
        ("a:\n  regex: true\n  say: b\n  case: smart", ":4: case: must be 'any' or 'exact' for an expression"),
        ("? " + "(" * 3000 + "a" + ")" * 3000 + "\n: {say: b, regex: true}", "its brackets are too deep"),
    ],
)
def test_faults_of_an_entry(tmp_path: Path, said: str, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read_lexicon(write(tmp_path, said + "\n"))
    assert message in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [("- a\n- b\n", ":1: must be a mapping"), ("a: b\nc: 'd\n", ":3: found unexpected end"), ("a: \x07\n", "YAML")],
)
def test_what_is_no_mapping_is_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        read_lexicon(write(tmp_path, text))


def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    for name in ("missing.yaml", "missing.pls"):
        with pytest.raises(ConfigError, match="no such file"):
            read_lexicon(tmp_path / name)
    (tmp_path / "latin.yaml").write_bytes(b"caf\xe9: coffee\n")
    with pytest.raises(ConfigError, match="UTF-8"):
        read_lexicon(tmp_path / "latin.yaml")
    (tmp_path / "folder.pls").mkdir()
    with pytest.raises(ConfigError, match="can't be read"):
        read_lexicon(tmp_path / "folder.pls")


@given(expression=st.text("ab()[]{}*+?|\\.^$<>=!P1,-", min_size=1, max_size=12), say=st.text("ab\\1g<>", min_size=1))
def test_any_expression_is_read_or_refused(tmp_path_factory: pytest.TempPathFactory, expression: str, say: str) -> None:
    path = tmp_path_factory.mktemp("any") / "names.yaml"
    quoted = [text.replace("'", "''") for text in (expression, say)]
    path.write_text("'{}': {{say: '{}', regex: true}}\n".format(*quoted))
    said = None
    try:
        read_lexicon(path).apply("aabb a1b bab")
    except ConfigError as error:
        said = str(error)
    assert said is None or said.startswith(f"{path}:1: ")


def test_the_users_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RENDER_BOOK_LEXICON")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert own_lexicon() is None
    path = tmp_path / "render-book" / "lexicon.yaml"
    path.parent.mkdir()
    path.write_text("gif: jiff\n")
    assert own_lexicon() == path
    monkeypatch.setenv("RENDER_BOOK_LEXICON", str(tmp_path / "other.yaml"))
    assert own_lexicon() == tmp_path / "other.yaml"
    monkeypatch.setenv("RENDER_BOOK_LEXICON", "")
    assert own_lexicon() is None
