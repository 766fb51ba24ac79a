"""W3C pronunciation lexicons: what is taken of them, what is noted, and what is refused."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.errors import ConfigError
from pipeline.script.lexicon import Entry
from pipeline.script.pls import NAMESPACE, read_pls
from pipeline.script.read_lexicon import read_lexicon
from tests.conftest import ROOT


def pls(*lexemes: str, root: str = 'alphabet="ipa" xml:lang="en"', before: str = "") -> bytes:
    listed = "\n".join(f"<lexeme>{lexeme}</lexeme>" for lexeme in lexemes)
    return f'{before}<lexicon version="1.0" xmlns="{NAMESPACE}" {root}>\n{listed}\n</lexicon>'.encode()


def entries(*lexemes: str) -> list[tuple[str, str, str]]:
    return [(entry.word, entry.say, entry.ipa) for entry in read_pls(pls(*lexemes), "en.pls").entries]


@pytest.mark.parametrize(
    ("lexeme", "read"),
    [
        ("<grapheme>Foo</grapheme><phoneme>fuː</phoneme>", [("Foo", "", "fuː")]),
        ("<grapheme>W3C</grapheme><alias>the\n  consortium</alias>", [("W3C", "the consortium", "")]),
        (
            "<grapheme>judgment</grapheme><grapheme>judge&#x6d;ent</grapheme><alias>judj ment</alias>",
            [("judgment", "judj ment", ""), ("judgement", "judj ment", "")],
        ),
        ("<grapheme>a</grapheme><phoneme>b</phoneme><phoneme prefer='true'>c</phoneme>", [("a", "", "c")]),
        # An engine that takes no sounds has the alias, whichever is preferred.
        ("<grapheme>a</grapheme><alias>b</alias><phoneme prefer='true'>c</phoneme>", [("a", "b", "c")]),
        ("<grapheme>a</grapheme><alias>b</alias><phoneme>c</phoneme>", [("a", "b", "")]),
        ("<grapheme>a</grapheme><phoneme alphabet='x-sampa'>{</phoneme><phoneme>æ</phoneme>", [("a", "", "æ")]),
        ("<grapheme>a</grapheme><phoneme>æ</phoneme><example>a <b/>case</example>", [("a", "", "æ")]),
        ("<grapheme>Zoe\u0308</grapheme><alias>zoh ee</alias>", [("Zoë", "zoh ee", "")]),
    ],
)
def test_a_lexeme(lexeme: str, read: list[tuple[str, str, str]]) -> None:
    assert entries(lexeme) == read


def test_of_several_lexemes_the_preferred_counts_else_the_first() -> None:
    first, second = "<grapheme>a</grapheme><alias>first</alias>", "<grapheme>a</grapheme><alias>second</alias>"
    preferred = second.replace("<alias>", "<alias prefer='true'>")
    assert entries(first, second) == [("a", "first", "")]
    assert entries(first, preferred, first.replace("<alias>", "<alias prefer='true'>")) == [("a", "second", "")]


def test_lines_and_language_go_with_the_entries(tmp_path: Path) -> None:
    path = tmp_path / "fr.PLS"
    path.write_bytes(pls("<grapheme>chat</grapheme>\n<alias>shah</alias>", root='alphabet="ipa" xml:lang="fr"'))
    assert read_lexicon(path).entries == (Entry("chat", "shah", language="fr", place=f"{path}:2"),)


def test_what_is_not_used_is_noted() -> None:
    data = pls(
        "<grapheme>a</grapheme><phoneme>b</phoneme>",
        "<grapheme>c</grapheme>",
        "<alias>d</alias>",
        "<grapheme>e</grapheme><phoneme alphabet='ipa'>f</phoneme>",
        root='alphabet="x-sampa"',
    ).replace(b"<lexeme>", b"<lexeme role='verb'>", 1)
    read = read_pls(data, "en.pls")
    assert [entry.word for entry in read.entries] == ["e"]
    assert read.notes == (
        "lexicon en.pls: 1 entries have a role, which isn't looked at.",
        "lexicon en.pls: 1 pronunciations in the alphabet 'x-sampa' are not used: only ipa is.",
        "en.pls:3: a lexeme without a word, or how it is said, is not used.",
        "en.pls:4: a lexeme without a word, or how it is said, is not used.",
    )


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"<lexicon><lexeme></lexicon>", ":1: isn't well-formed XML (mismatched tag)"),
        (b"", ":1: isn't well-formed XML (no element found)"),
        (b"<html xmlns='x'/>", ":1: isn't a pronunciation lexicon: it begins with <html>"),
        (b"<lexicon xmlns='http://other'/>", "isn't a pronunciation lexicon"),
        (b"<?xml version='1.0' encoding='klingon'?><lexicon/>", ":1: "),
        (b"\n<!DOCTYPE lexicon [<!ENTITY a 'aaaa'>]><lexicon/>", ":2: the entity 'a' isn't read"),
        (b"<!DOCTYPE lexicon [<!ENTITY a SYSTEM 'file:///etc/passwd'>]><lexicon>&a;</lexicon>", "the entity 'a' isn't"),
        (b"<!DOCTYPE lexicon SYSTEM 'http://localhost:1/x.dtd'><lexicon>&a;</lexicon>", "the entity 'a' isn't"),
    ],
)
def test_what_is_refused(data: bytes, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read_pls(data, "en.pls")
    assert message in str(caught.value)


def test_depth_and_length_are_nothing_to_it() -> None:
    deep = b"<example>" * 100_000 + b"</example>" * 100_000
    assert read_pls(
        pls("<grapheme>a</grapheme><alias>b</alias>").replace(b"</lexeme>", deep + b"</lexeme>"), "x"
    ).entries


@given(st.binary(max_size=60), st.integers(0, 200))
def test_any_bytes_are_read_or_refused(junk: bytes, at: int) -> None:
    data = pls("<grapheme>Foo</grapheme><phoneme>fuː</phoneme>")
    for damaged in (junk, data[:at], data[:at] + junk + data[at:]):
        said = None
        try:
            read_pls(damaged, "en.pls")
        except ConfigError as error:
            said = str(error)
        assert said is None or said.startswith("en.pls:")


def test_the_lexicon_of_a_real_book() -> None:
    path = ROOT / "../shared/corpus/epub/real/idpf_georgia-pls-ssml.epub"
    if not path.exists():
        pytest.skip("no corpus here")
    with zipfile.ZipFile(path) as book:
        read = read_pls(book.read("EPUB/lexicon/en.pls"), "EPUB/lexicon/en.pls")
    assert len(read.entries) == 71
    assert all(entry.ipa and entry.language == "en" for entry in read.entries)
    assert read.notes == ()
