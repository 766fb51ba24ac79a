"""Bytes to characters: what the bytes say goes before what the file declares."""

from __future__ import annotations

import codecs
import re

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16, whose mark is its first half
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_XML_DECLARATION = re.compile(rb"^\s*<\?xml[^>]*?encoding\s*=\s*[\"']([\w.:-]+)")
_META_CHARSET = re.compile(rb"<meta[^>]*?charset\s*=\s*[\"']?([\w.:-]+)", re.IGNORECASE)
# Declared, these say nothing: the first ones stand for each other, the others are no character sets.
_VAGUE = frozenset(
    ["iso8859-1", "cp1252", "ascii", "utf-8", "idna", "punycode", "unicode-escape", "raw-unicode-escape"]
)
_WIDER = {
    "shift_jis": "cp932",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "euc_kr": "cp949",
    "big5": "big5hkscs",
    "iso8859-9": "cp1254",
    "iso8859-11": "cp874",
    "tis-620": "cp874",
}
"""What these names stand for in practice, as in WHATWG's table of labels: their supersets."""
_BY_LANGUAGE = {
    "ja": ("euc_jp", "cp932"),  # in that order: cp932 finds words in anything
    "zh": ("gb18030", "big5hkscs"),
    "zh-hant": ("big5hkscs", "gb18030"),
    "ko": ("cp949",),
    **dict.fromkeys(("ru", "bg"), ("cp1251", "koi8_r")),
    "uk": ("cp1251", "koi8_u"),
    **dict.fromkeys(("be", "sr", "mk"), ("cp1251",)),
    **dict.fromkeys(("pl", "cs", "sk", "hu", "sl", "hr", "bs", "ro", "sq"), ("cp1250",)),
    **dict.fromkeys(("et", "lv", "lt"), ("cp1257",)),
    "el": ("cp1253",),
    "tr": ("cp1254",),
    "he": ("cp1255",),
    **dict.fromkeys(("ar", "fa", "ur"), ("cp1256",)),
    "vi": ("cp1258",),
    "th": ("cp874",),
}
_TRADITIONAL = ("zh-hant", "zh-tw", "zh-hk", "zh-mo")
_SMALL_AFTER_LETTER = re.compile(r"(?<=[^\W\d_])(?=[^\W\d_])[а-яёіїєґў]")
_MIN_RIGHT_PER_WRONG = 50


def decode_markup(data: bytes, language: str = "") -> str:
    """Decode XML or HTML by its byte order mark, XML declaration, `<meta charset>`, else as `decode_text`.

    `language` is the book's BCP 47 tag: it tells what bytes are that nothing else explains.
    """
    found = _XML_DECLARATION.search(data[:300]) or _META_CHARSET.search(data[:2048])
    return _decode(data, found[1].decode("ascii") if found else "", language)


def decode_text(data: bytes) -> str:
    """Decode by byte order mark, else UTF-16 where the NULs say so, else UTF-8, else Windows-1252."""
    return _decode(data, "")


def _decode(data: bytes, declared: str, language: str = "") -> str:
    for bom, encoding in _BOMS:
        if data.startswith(bom):
            return data[len(bom) :].decode(encoding, errors="replace")
    if encoding := _utf_16_by_nuls(data):
        return data.decode(encoding, errors="replace")
    try:
        codec = codecs.lookup(declared).name if declared else "utf-8"
    except LookupError:
        codec = "utf-8"
    if codec not in _VAGUE and not codec.startswith("utf-16"):
        text = _decode_by(_WIDER.get(codec, codec), data)
        if text is not None:
            return text  # else declared wrongly: the bytes decide
    # Text in Latin-1 that happens to be valid UTF-8 is a curiosity; UTF-8 declared as Latin-1 is not.
    return _decode_utf_8(data) or _decode_by_language(data, language) or _cp1252(data)


def _decode_by(codec: str, data: bytes) -> str | None:
    """The text, with a few wrong bytes shown as such; None where the bytes are of another encoding."""
    try:
        text = data.decode(codec, errors="replace")
    except (UnicodeError, LookupError):
        return None
    num_wrong = text.count("\ufffd")
    return text if num_wrong * _MIN_RIGHT_PER_WRONG <= sum(char > "\x7f" for char in text) else None


def _decode_by_language(data: bytes, language: str) -> str | None:
    """By the encodings of old in which a language was written. Of two for one alphabet, by where capitals stand."""
    tag = language.lower().replace("_", "-")
    codecs_ = _BY_LANGUAGE.get("zh-hant" if tag.startswith(_TRADITIONAL) else tag.partition("-")[0], ())
    found = [text for codec in codecs_ if (text := _decode_by(codec, data)) is not None]
    return max(found, key=lambda text: len(_SMALL_AFTER_LETTER.findall(text)), default=None)


def _utf_16_by_nuls(data: bytes) -> str:
    head = data[:4096]
    half = len(head) // 2
    if half < 2:
        return ""
    even, odd = head[0::2].count(0), head[1::2].count(0)
    if odd > 0.3 * half and even < 0.02 * half:
        return "utf-16-le"
    if even > 0.3 * half and odd < 0.02 * half:
        return "utf-16-be"
    return ""


def _decode_utf_8(data: bytes) -> str | None:
    text = data.decode("utf-8", errors="surrogateescape")
    strays = re.findall("[\udc80-\udcff]", text)
    if not strays:
        return text
    num_good = sum(map(len, re.findall("[^\x00-\x7f]+", text))) - len(strays)
    if num_good > len(strays):  # UTF-8 with a few bytes of something else pasted in
        return re.sub("[\udc80-\udcff]", lambda stray: _cp1252(bytes([ord(stray[0]) - 0xDC00])), text)
    return None


def _cp1252(data: bytes) -> str:
    try:
        return data.decode("cp1252")
    except UnicodeDecodeError:  # five bytes mean nothing in Windows-1252; read those as controls, as browsers do
        return "".join(bytes([byte]).decode("cp1252", errors="ignore") or chr(byte) for byte in data)
