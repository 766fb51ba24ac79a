"""The lexicon: whole words, longest first, once; and a file's faults all at once, with their lines."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.errors import ConfigError
from pipeline.script.lexicon import Lexicon, read_lexicon


def lexicon(**entries: str) -> Lexicon:
    return Lexicon(tuple(entries.items()))


@pytest.mark.parametrize(
    ("word", "respelling", "text", "respelt"),
    [
        ("gif", "jiff", "A gif, GIF and gifts. Gif!", "A jiff, Jiff and gifts. Jiff!"),
        ("Polish", "Poh-lish", "Polish the polish. POLISH", "Poh-lish the polish. Poh-lish"),
        ("Cravech", "kravvek", "Cravech’s, Cravech'll", "Kravvek’s, Kravvek'll"),
        ("don", "dawn", "don, don't, don’t", "dawn, don't, don’t"),
        ("Artagnan", "Artanyan", "d'Artagnan, Artagnan", "d'Artagnan, Artanyan"),
        ("o'clock", "oh clock", "six o’clock", "six oh clock"),
        ("New York", "Noo Yawk", "New\nYork New Yorker", "Noo Yawk New Yorker"),
        ("C++", "C plus plus", "C++ or C+", "C plus plus or C+"),
        ("a.b", "dot", "a.b axb", "dot axb"),
        (".net", "dot net", ".NET, x.NET", "dot net, x.NET"),
        ("'em", "them", "with ’em, get'em", "with them, get'em"),
        ("well-met", "wellmet", "well-met well met", "wellmet well met"),
    ],
)
def test_whole_words_are_respelt(word: str, respelling: str, text: str, respelt: str) -> None:
    assert lexicon(**{word: respelling}).apply(text) == respelt


def test_the_longest_goes_first_and_nothing_is_respelt_again() -> None:
    both = lexicon(**{"york": "yawk", "new york": "york", "yawk": "wrong"})
    assert both.apply("new york, york") == "york, yawk"


def test_a_thousand_words_take_seconds_a_book() -> None:
    many = Lexicon(tuple((f"name{number}", "x") for number in range(1000)))
    assert many.apply("name1 " * 100_000) == "x " * 100_000


def test_words_that_occur_are_told_apart() -> None:
    assert lexicon(gif="jiff", Cravech="Kravvek").find_words("A GIF.") == {"gif"}
    assert Lexicon().find_words("A GIF.") == frozenset()


@given(st.dictionaries(st.text(min_size=1).filter(str.strip), st.text(min_size=1), max_size=5), st.text())
def test_any_word_and_text_will_do(entries: dict[str, str], text: str) -> None:
    any_lexicon = lexicon(**entries)
    if not any_lexicon.find_words(text):
        assert any_lexicon.apply(text) == text
    any_lexicon.apply(text + next(iter(entries), ""))


def write(folder: Path, text: str) -> Path:
    path = folder / "names.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_keys_and_values_are_strings(tmp_path: Path) -> None:
    path = write(tmp_path, "\ufeffno: noe\n23:30: half past\n1984: ninety  # the book\n'C++': see\n")
    assert read_lexicon(path).entries == (
        ("no", "noe"),
        ("23:30", "half past"),
        ("1984", "ninety"),
        ("C++", "see"),
    )


def test_an_empty_file_is_an_empty_lexicon(tmp_path: Path) -> None:
    assert read_lexicon(write(tmp_path, "# nothing yet\n")).apply("as it is") == "as it is"


def test_all_faults_are_told_at_once(tmp_path: Path) -> None:
    path = write(tmp_path, "a: b\n'': c\na: d\ne: [f]\ng:\n[h]: i\n")
    with pytest.raises(ConfigError) as caught:
        read_lexicon(path)
    lines = str(caught.value).splitlines()
    assert [line.split(": ")[0] for line in lines] == [f"{path}:{number}" for number in (2, 3, 4, 5, 6)]
    assert "a: stands here twice" in lines[1]


@pytest.mark.parametrize(
    ("text", "message"),
    [("- a\n- b\n", ":1: must be a mapping"), ("a: b\nc: 'd\n", ":3: found unexpected end"), ("a: \x07\n", "YAML")],
)
def test_what_is_no_mapping_is_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        read_lexicon(write(tmp_path, text))


def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no such file"):
        read_lexicon(tmp_path / "missing.yaml")
    (tmp_path / "latin.yaml").write_bytes(b"caf\xe9: coffee\n")
    with pytest.raises(ConfigError, match="UTF-8"):
        read_lexicon(tmp_path / "latin.yaml")
