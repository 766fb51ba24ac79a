"""Symbols: addresses of the internet, &, #, §, signs of arithmetic."""

from __future__ import annotations

import re

from pipeline.script.english.context import keep_stop
from pipeline.script.english.numbers import name_digits, name_integer
from pipeline.script.rules import make_rule, text_after, text_before

_KNOWN_ENDS = "com|org|net|edu|gov|info|mil|int|biz"
_COUNTRIES = "uk|us|de|fr|it|es|nl|ie|ca|au|nz|io|co|ai|tv|me|eu|jp|cn|in|ru|ch|at|se|no|dk|sm"
_SIGNS = {".": "dot", "/": "slash", "-": "dash", "_": "underscore", "?": "question mark", "=": "equals", "&": "and",
          "@": "at", "#": "hash", ":": "colon", "%": "percent", "+": "plus", "~": "tilde", ",": "comma"}  # fmt: skip
_EXTENSIONS = "html?|pdf|txt|jpe?g|png|gif|docx?|exe|mp3|mp4|zip|xlsx?|epub|php|py|js"
_PART = re.compile(r"[0-9]+|[^\W\d_]+|[^\w\s]|_")
_SPELLED = frozenset(
    ("www", "http", "https", "html", "htm", "php", "pdf", "txt", "jpg", "png", "gif", "exe", "xls", "mp")
)


def _say_address(match: re.Match[str]) -> str:
    written = re.sub(r"\A(?:https?|ftp)://", "", match[0], flags=re.I).rstrip("/")
    return _say_parts(written)


def _say_parts(written: str) -> str:
    words = []
    for i, part in enumerate(parts := _PART.findall(written)):
        if part.isdecimal():
            words.append(name_integer(part) if len(part) < 5 else name_digits(part))
        elif part.isalpha():
            is_end = (
                i > 0
                and parts[i - 1] == "."
                and part.lower() in _COUNTRIES.split("|")
                and part.lower() not in ("co", "me", "us", "at", "in", "no")
            )
            words.append(" ".join(part.lower()) if part.lower() in _SPELLED or is_end else part)
        else:
            words.append(_SIGNS.get(part, ""))
    return " ".join(filter(None, words))


def _say_operator(match: re.Match[str]) -> str:
    names = {"=": "equals", "+": "plus", "±": "plus or minus", "×": "times", "÷": "divided by", "<": "is less than",
             ">": "is greater than", "≤": "is at most", "≥": "is at least", "≈": "is about", "≠": "is not",
             "−": "minus", "*": "times"}  # fmt: skip
    sign = match["x"].strip()
    before, after = text_before(match)[-1:], text_after(match)[:1]
    return (
        f"{' ' if before and not before.isspace() else ''}{names[sign]}{' ' if after and not after.isspace() else ''}"
    )


def _say_slash(match: re.Match[str]) -> str | None:
    first, second = match["first"].lower(), match["second"].lower()
    if (first, second) in _ALTERNATIVES:
        return f"{match['first']} or {match['second']}"
    return f"{match['first']} {match['second']}"


_ALTERNATIVES = {
    (a, b)
    for pair in ("he she", "him her", "his her", "his hers", "himself herself", "yes no", "true false", "male female",
                 "man woman", "boy girl", "mother father", "son daughter", "brother sister", "husband wife", "mr mrs",
                 "this that", "pass fail")
    for a, b in (pair.split(), pair.split()[::-1])
}  # fmt: skip


def _say_and(match: re.Match[str]) -> str:
    before, after = text_before(match)[-1:], text_after(match)[:1]
    return f"{' ' if before and before.isalnum() else ''}and{' ' if after and after.isalnum() else ''}"


_MATH = "=+±×÷<>≤≥≈≠−*"

EARLY_RULES = (
    make_rule(
        "e-mail",
        r"(?<![\w.@&-])[\w.&-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,5}(?:/[\w/-]{0,200}\w)?(?![\w@])",
        _say_address,
        "@",
    ),
    make_rule("web address", r"\b(?:https?|ftp)://[^\s<>\"'()\[\]{}]{0,500}[\w/]", _say_address, ":", re.I),
    make_rule(
        "web address",
        r"(?<![\w.@-])www\.[\w-]{1,63}(?:\.[\w-]{1,63}){1,5}(?:/[^\s<>\"'()\[\]{}]{0,500}[\w/])?",
        _say_address,
        ".",
        re.I,
    ),
    make_rule(
        "web address",
        rf"(?<![\w.@/-])(?:[A-Za-z0-9][A-Za-z0-9-]{{0,62}}\.){{1,4}}(?:(?:{_KNOWN_ENDS})(?:\.(?:{_COUNTRIES}))?|"
        rf"co\.(?:{_COUNTRIES})|(?:ac|gov|org)\.uk|uk)(?![\w@-]|\.\w)(?:/[^\s<>\"'()\[\]{{}}]{{0,500}}[\w/])?",
        _say_address,
        ".",
    ),
    make_rule("file name", rf"(?<![\w.@/-])[\w-]{{1,64}}\.(?:{_EXTENSIONS})(?![\w@-]|\.\w)", _say_address, "."),
)
"""Before anything else: what looks like a number or an abbreviation in an address is none."""

RULES = (
    make_rule("number sign", r"(?<![\w#&])# ?(?=[0-9])", "number ", "#"),
    make_rule("sharp", r"\b(?<![\w'-])(?P<x>[A-G](?:#|♯))(?![\w#])", lambda m: f"{m['x'][0]} sharp", "#♯"),
    make_rule("flat", r"\b(?<![\w'-])(?P<x>[A-G]♭)(?!\w)", lambda m: f"{m['x'][0]} flat", "♭"),
    make_rule("hashtag", r"(?<![\w#&])#(?=[^\W\d_])", "hashtag ", "#"),
    make_rule("section", r"¶¶ ?(?=[0-9IVXivx])", "paragraphs ", "¶"),
    make_rule("section", r"¶ ?(?=[0-9IVXivx])", "paragraph ", "¶"),
    make_rule("section", r"§§ ?(?=[0-9IVXivx])", "sections ", "§"),
    make_rule("section", r"§ ?(?=[0-9IVXivx])", "section ", "§"),
    make_rule(
        "copyright",
        r"©|\([Cc]\)(?= (?:1[0-9]|20)[0-9]{2})",
        lambda m: "copyright" + ("" if text_after(m)[:1] in ("", " ", ",", ".") else " "),
        "©(",
    ),
    make_rule("trade mark", "[®™℠]", "", "®™℠"),
    make_rule("et cetera", r"(?<!\w)& ?c\b\.?", lambda m: "et cetera" + _stop(m), "&"),
    make_rule("plus", r"(?<![\w+])(?P<x>[A-Za-z]\+\+)(?![\w+])", lambda m: f"{m['x'][0]} plus plus", "+"),
    make_rule("plus", r"(?<=[0-9])\+(?![\w+=.])", " plus", "+"),
    make_rule("grade", r"(?<![\w'+-])(?P<x>[A-F]\+)(?![\w+=])", lambda m: f"{m['x'][0]} plus", "+"),
    make_rule("and", r"(?<![&])&(?![&\w;]{1,8};)(?![&])", _say_and, "&"),
    make_rule(
        "arithmetic",
        r"(?<=[\w)²³])(?P<x> ?[=±×÷≤≥≈≠−+] ?)(?=[\w(.√π-])(?<![A-Za-z]{4}=)(?<![A-Za-z]{4}\+)",
        _say_operator,
        _MATH,
    ),
    make_rule(
        "arithmetic",
        r"(?<=[\w)])(?P<x> [<>] )(?=[\w(.-])|(?<=[0-9])(?P<y>[<>])(?=[0-9])",
        lambda m: _say_operator(m) if m["x"] else " is less than " if m["y"] == "<" else " is greater than ",
        "<>",
    ),
    make_rule("times", r"(?<=[0-9])(?P<x> ?\* ?)(?=[0-9])", _say_operator, "*"),
    make_rule("arithmetic", r"(?<![\w+±])(?P<x>[+±] ?)(?=[0-9])", _say_operator, "+±"),
    make_rule("about", r"(?<![\w~])~ ?(?=[0-9$£€])", "about ", "~"),
    make_rule("infinity", r"∞", "infinity", "∞"),
    # the London–Paris express
    make_rule(
        "range",
        r"\b[A-Z][a-z]+(?P<x>–)(?=[A-Z][a-z]+ (?:train|express|line|flight|route|road|railway|railroad|ferry|bus|"
        r"service|race|motorway|highway|mail|coach|road|corridor)\b)",
        " to ",
        "–",
    ),
    make_rule("slash", r"(?<![\w/.])(?:and/or)(?![\w/])", "and or", "/"),
    make_rule("without", r"(?<![\w/.])w/o(?![\w/])", "without", "/"),
    make_rule("care of", r"(?<![\w/.])c/o(?![\w/])", "care of", "/"),
    make_rule("slash", r"(?<![\w/.'])(?P<first>[A-Za-z]{2,20}'?)/(?P<second>[A-Za-z]{2,20})(?![\w/])", _say_slash, "/"),
    make_rule(
        "line of verse",
        r"(?<=[\w,;:.!?'\"]) / (?=\S)",
        lambda m: " " if not text_before(m)[-1:].isalnum() else ", ",
        "/",
    ),
    make_rule("at", r"(?<=\w) @ (?=\w)|(?<=[0-9%])@(?=[0-9$])", " at ", "@"),
    make_rule("at", r"(?<![\w@])@(?=[A-Za-z0-9])", "at ", "@"),
    make_rule("underscore", r"(?<=[^\W_])_+(?=[^\W_])", " ", "_"),
)


def _stop(match: re.Match[str]) -> str:
    return keep_stop(match) if match[0].endswith(".") else ""
