"""Symbols: addresses of the internet, &, #, §, signs of arithmetic."""

from __future__ import annotations

import re

from pipeline.script.english.context import keep_stop
from pipeline.script.english.numbers import name_digits, name_integer
from pipeline.script.rules import make_rule, text_after, text_before

_KNOWN_ENDS = "com|org|net|edu|gov|info|mil|int|biz"
_COUNTRIES = "uk|us|de|fr|it|es|nl|ie|ca|au|nz|io|co|ai|tv|me|eu|jp|cn|in|ru|ch|at|se|no|dk|sm"
_SPELLED_COUNTRIES = frozenset(_COUNTRIES.split("|")) - frozenset(("at", "co", "in", "me", "no", "us"))
_SIGNS = {".": "dot", "/": "slash", "-": "dash", "_": "underscore", "?": "question mark", "=": "equals", "&": "and",
          "@": "at", "#": "hash", ":": "colon", "%": "percent", "+": "plus", "~": "tilde", ",": "comma"}  # fmt: skip
_OPERATORS = {"=": "equals", "+": "plus", "±": "plus or minus", "×": "times", "÷": "divided by", "<": "is less than",
              ">": "is greater than", "≤": "is at most", "≥": "is at least", "≈": "is about", "≠": "is not",
              "−": "minus", "*": "times"}  # fmt: skip
_EXTENSIONS = "html?|pdf|txt|jpe?g|png|gif|docx?|exe|mp3|mp4|zip|xlsx?|epub|php|py|js"
_PART = re.compile(r"[0-9]+|[^\W\d_]+|[^\w\s]|_")
_SPELLED = frozenset(
    ("www", "http", "https", "html", "htm", "php", "pdf", "txt", "jpg", "png", "gif", "exe", "xls", "mp")
)


_ALTERNATIVES = {
    ordered
    for first, second in (
        ("boy", "girl"), ("brother", "sister"), ("he", "she"), ("him", "her"), ("himself", "herself"),
        ("his", "her"), ("his", "hers"), ("husband", "wife"), ("male", "female"), ("man", "woman"),
        ("mother", "father"), ("mr", "mrs"), ("pass", "fail"), ("son", "daughter"), ("this", "that"),
        ("true", "false"), ("yes", "no"),
    )
    for ordered in ((first, second), (second, first))
}  # fmt: skip


def _say_address(match: re.Match[str]) -> str:
    written = re.sub(r"\A(?:https?|ftp)://", "", match[0], flags=re.I).rstrip("/")
    return _say_parts(written)


def _say_parts(written: str) -> str:
    parts = _PART.findall(written)
    words = [_name_part(part, part_before) for part, part_before in zip(parts, ["", *parts], strict=False)]
    return " ".join(filter(None, words))


def _name_part(part: str, part_before: str) -> str:
    """A word, a number or a mark of an address; marks that aren't said are empty."""
    if part.isdecimal():
        return name_integer(part) if len(part) < 5 else name_digits(part)
    if not part.isalpha():
        return _SIGNS.get(part, "")
    is_country = part_before == "." and part.lower() in _SPELLED_COUNTRIES
    return " ".join(part.lower()) if is_country or part.lower() in _SPELLED else part


def _say_operator(match: re.Match[str]) -> str:
    """2+2, 2 = 2: with a space on either side."""
    before, after = text_before(match)[-1:], text_after(match)[:1]
    left = " " if before and not before.isspace() else ""
    right = " " if after and not after.isspace() else ""
    return f"{left}{_OPERATORS[match[0].strip()]}{right}"


def _say_slash(match: re.Match[str]) -> str:
    """His/her is "his or her"; the Berlin/London flight has no word between."""
    first, second = match["first"], match["second"]
    is_choice = (first.lower(), second.lower()) in _ALTERNATIVES
    return f"{first} or {second}" if is_choice else f"{first} {second}"


def _say_and(match: re.Match[str]) -> str:
    before, after = text_before(match)[-1:], text_after(match)[:1]
    return f"{' ' if before and before.isalnum() else ''}and{' ' if after and after.isalnum() else ''}"


def _say_copyright(match: re.Match[str]) -> str:
    return "copyright" if text_after(match)[:1] in ("", " ", ",", ".") else "copyright "


def _say_et_cetera(match: re.Match[str]) -> str:
    return "et cetera" + (keep_stop(match) if match[0].endswith(".") else "")


def _say_line_end(match: re.Match[str]) -> str:
    """Sea, / The: a pause where no mark stands."""
    return ", " if text_before(match)[-1:].isalnum() else " "


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
    # #5
    make_rule("number sign", r"(?<![\w#&])# ?(?=[0-9])", "number ", "#"),
    # C#, B♭
    make_rule("sharp", r"\b(?<![\w'-])(?P<x>[A-G](?:#|♯))(?![\w#])", lambda m: f"{m['x'][0]} sharp", "#♯"),
    make_rule("flat", r"\b(?<![\w'-])(?P<x>[A-G]♭)(?!\w)", lambda m: f"{m['x'][0]} flat", "♭"),
    # #winning
    make_rule("hashtag", r"(?<![\w#&])#(?=[^\W\d_])", "hashtag ", "#"),
    make_rule("section", r"¶¶ ?(?=[0-9IVXivx])", "paragraphs ", "¶"),
    make_rule("section", r"¶ ?(?=[0-9IVXivx])", "paragraph ", "¶"),
    make_rule("section", r"§§ ?(?=[0-9IVXivx])", "sections ", "§"),
    make_rule("section", r"§ ?(?=[0-9IVXivx])", "section ", "§"),
    # © 1999, (c) 1999
    make_rule("copyright", r"©|\([Cc]\)(?= (?:1[0-9]|20)[0-9]{2})", _say_copyright, "©("),
    make_rule("trade mark", "[®™℠]", "", "®™℠"),
    # &c.
    make_rule("et cetera", r"(?<!\w)& ?c\b\.?", _say_et_cetera, "&"),
    # C++
    make_rule("plus", r"(?<![\w+])(?P<x>[A-Za-z]\+\+)(?![\w+])", lambda m: f"{m['x'][0]} plus plus", "+"),
    # 18+
    make_rule("plus", r"(?<=[0-9])\+(?![\w+=.])", " plus", "+"),
    # A+
    make_rule("grade", r"(?<![\w'+-])(?P<x>[A-F]\+)(?![\w+=])", lambda m: f"{m['x'][0]} plus", "+"),
    make_rule("and", r"(?<![&])&(?![&\w;]{1,8};)(?![&])", _say_and, "&"),
    # x = 2y, 2+2; not word=word nor word+word
    make_rule(
        "arithmetic",
        r"(?<=[\w)²³])(?P<x> ?[=±×÷≤≥≈≠−+] ?)(?=[\w(.√π-])(?<![A-Za-z]{4}=)(?<![A-Za-z]{4}\+)",
        _say_operator,
        _MATH,
    ),
    # x < 3; not x<3: 3>2 may be the end of a tag
    make_rule("arithmetic", r"(?<=[\w)])(?P<x> [<>] )(?=[\w(.-])", _say_operator, "<>"),
    make_rule("times", r"(?<=[0-9])(?P<x> ?\* ?)(?=[0-9])", _say_operator, "*"),
    # +5, ± 5
    make_rule("arithmetic", r"(?<![\w+±])(?P<x>[+±] ?)(?=[0-9])", _say_operator, "+±"),
    # ~5
    make_rule("about", r"(?<![\w~])~ ?(?=[0-9$£€])", "about ", "~"),
    make_rule("infinity", r"∞", "infinity", "∞"),
    # the London–Paris express
    make_rule(
        "range",
        r"\b[A-Z][a-z]+(?P<x>–)(?=[A-Z][a-z]+ (?:train|express|line|flight|route|road|railway|railroad|ferry|bus|"
        r"service|race|motorway|highway|mail|coach|corridor)\b)",
        " to ",
        "–",
    ),
    make_rule("slash", r"(?<![\w/.])(?:and/or)(?![\w/])", "and or", "/"),
    make_rule("without", r"(?<![\w/.])w/o(?![\w/])", "without", "/"),
    make_rule("care of", r"(?<![\w/.])c/o(?![\w/])", "care of", "/"),
    # his/her, Berlin/London
    make_rule("slash", r"(?<![\w/.'])(?P<first>[A-Za-z]{2,20}'?)/(?P<second>[A-Za-z]{2,20})(?![\w/])", _say_slash, "/"),
    # the sea, / The sky
    make_rule(
        "line of verse",
        r"(?<=[\w,;:.!?'\"]) / (?=\S)",
        _say_line_end,
        "/",
    ),
    # 5 @ $2
    make_rule("at", r"(?<=\w) @ (?=\w)|(?<=[0-9%])@(?=[0-9$])", " at ", "@"),
    # @someone
    make_rule("at", r"(?<![\w@])@(?=[A-Za-z0-9])", "at ", "@"),
    # snake_case
    make_rule("underscore", r"(?<=[^\W_])_+(?=[^\W_])", " ", "_"),
)
