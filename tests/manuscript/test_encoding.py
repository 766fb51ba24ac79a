"""Bytes to characters."""

from __future__ import annotations

import codecs

import pytest

from pipeline.manuscript.encoding import decode_markup, decode_text

TEXT = "« Où ? » — l’été, 12 € “œuf”"
HTML = "<html><head><meta charset='{}'></head><body>{}</body></html>"


@pytest.mark.parametrize(
    ("encoding", "bom"),
    [
        ("utf-8", b""),
        ("utf-8", codecs.BOM_UTF8),
        ("utf-16-le", codecs.BOM_UTF16_LE),
        ("utf-16-be", codecs.BOM_UTF16_BE),
        ("utf-32-le", codecs.BOM_UTF32_LE),
        ("utf-16-le", b""),
        ("utf-16-be", b""),
        ("cp1252", b""),
    ],
)
def test_plain_text(encoding: str, bom: bytes) -> None:
    assert decode_text(bom + TEXT.encode(encoding)) == TEXT


@pytest.mark.parametrize(
    ("declared", "actual"),
    [
        ("utf-8", "utf-8"),
        ("windows-1252", "cp1252"),
        ("utf-8", "cp1252"),
        ("iso-8859-1", "cp1252"),
        ("us-ascii", "cp1252"),
        ("nonsense", "utf-8"),
        ("iso-8859-1", "utf-8"),
        ("utf-16", "utf-8"),
    ],
)
def test_declared_encodings(declared: str, actual: str) -> None:
    xml = f'<?xml version="1.0" encoding="{declared}"?><p>{TEXT}</p>'
    assert TEXT in decode_markup(xml.encode(actual))
    assert TEXT in decode_markup(HTML.format(declared, TEXT).encode(actual))


@pytest.mark.parametrize(("encoding", "text"), [("shift_jis", "山路を登りながら"), ("koi8-r", "Мороз и солнце")])
def test_other_alphabets(encoding: str, text: str) -> None:
    assert text in decode_markup(f'<?xml version="1.0" encoding="{encoding}"?><p>{text}</p>'.encode(encoding))
    assert text in decode_markup(HTML.format(encoding, text).encode(encoding))


def test_the_xml_declaration_goes_before_the_meta_element() -> None:
    data = "<?xml version='1.0' encoding='koi8-r'?><meta charset='cp1251'/>Мороз".encode("koi8-r")
    assert "Мороз" in decode_markup(data)


def test_a_stray_byte_does_not_spoil_a_text() -> None:
    assert decode_text(TEXT.encode() + b" caf\xe9 \x81") == TEXT + " café \x81"
