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


@pytest.mark.parametrize(
    ("label", "actual", "text"),
    [
        ("Shift_JIS", "cp932", "髙い塔に①と書いた"),
        ("gb2312", "gbk", "鎔爐旁邊的人"),
        ("gbk", "gb18030", "山路𠀀很長"),
        ("euc-kr", "cp949", "뷁이라고 썼다"),
        ("big5", "big5hkscs", "佢哋喺度"),
        ("iso-8859-9", "cp1254", "“Işık” dedi"),
    ],
)
def test_labels_stand_for_what_is_written_under_them(label: str, actual: str, text: str) -> None:
    assert text in decode_markup(f'<?xml version="1.0" encoding="{label}"?><p>{text}</p>'.encode(actual))


def test_one_wrong_byte_does_not_spoil_what_is_declared() -> None:
    text = "山路を登りながらこう考えた。" * 9
    data = f'<?xml version="1.0" encoding="shift_jis"?><p>{text}'.encode("cp932") + b"\xff</p>"
    assert text in decode_markup(data)


@pytest.mark.parametrize(
    ("language", "actual", "text"),
    [
        ("ja", "cp932", "山路を登りながらこう考えた。"),
        ("ja-JP", "euc_jp", "山路を登りながらこう考えた。"),
        ("zh-CN", "gbk", "他在山路上慢慢走着，想着从前的事。"),
        ("zh_TW", "big5", "他在山路上慢慢走著，想著從前的事。"),
        ("ko", "cp949", "그는 산길을 걸으며 생각했다."),
        ("ru", "cp1251", "Мороз и солнце; день чудесный!"),
        ("ru", "koi8-r", "Мороз и солнце; день чудесный!"),
        ("uk", "koi8-u", "Її ґава їла їжу."),
        ("pl", "cp1250", "Zażółć gęślą jaźń"),
        ("el", "cp1253", "Το πλοίο έφυγε"),
        ("de", "cp1252", "Größe zählt"),
        ("", "cp1252", "Größe zählt"),
    ],
)
def test_the_language_tells_what_was_declared_as_utf_8(language: str, actual: str, text: str) -> None:
    xml = f'<?xml version="1.0" encoding="utf-8"?><p>{text}</p>'
    assert text in decode_markup(xml.encode(actual), language)
    assert text in decode_markup(xml.encode(), language)


def test_the_xml_declaration_goes_before_the_meta_element() -> None:
    data = "<?xml version='1.0' encoding='koi8-r'?><meta charset='cp1251'/>Мороз".encode("koi8-r")
    assert "Мороз" in decode_markup(data)


def test_a_stray_byte_does_not_spoil_a_text() -> None:
    assert decode_text(TEXT.encode() + b" caf\xe9 \x81") == TEXT + " café \x81"
