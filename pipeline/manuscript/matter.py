"""What front or back matter a chapter is, and whether it is heard.

By what the book says of it (`epub:type`, role, landmark, guide), then by its title, then by its shape. A chapter
wrongly dropped is the worst fault, so that title and shape must agree with its length and its place, and the last
chapter with text is never dropped.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from pipeline.manuscript.book import Block, Kind
from pipeline.manuscript.prose import ends_sentence

MATTER_BY_TYPE = {
    "cover": "cover",
    "titlepage": "title page",
    "title-page": "title page",
    "fulltitle": "title page",
    "halftitlepage": "half title page",
    "halftitle": "half title page",
    "copyright-page": "copyright page",
    "copyright": "copyright page",
    "imprint": "imprint",
    "imprimatur": "imprint",
    "colophon": "colophon",
    "toc": "table of contents",
    "toc-brief": "table of contents",
    "landmarks": "table of contents",
    "loi": "list of illustrations",
    "lot": "list of tables",
    "loa": "list of recordings",
    "lov": "list of films",
    "index": "index",
    "endnotes": "notes",
    "footnotes": "notes",
    "rearnotes": "notes",
    "notes": "notes",
    "dedication": "dedication",
    "epigraph": "epigraph",
    "foreword": "foreword",
    "preface": "preface",
    "introduction": "introduction",
    "preamble": "preamble",
    "prologue": "prologue",
    "epilogue": "epilogue",
    "afterword": "afterword",
    "conclusion": "conclusion",
    "appendix": "appendix",
    "acknowledgments": "acknowledgments",
    "acknowledgements": "acknowledgments",
    "contributors": "contributors",
    "other-credits": "credits",
    "glossary": "glossary",
    "bibliography": "bibliography",
    "errata": "errata",
}
NOT_HEARD = frozenset(
    [
        *("cover", "title page", "half title page", "imprint", "copyright page", "uncopyright", "colophon"),
        *("table of contents", "list of illustrations", "list of tables", "list of recordings", "list of films"),
        *("index", "advertisement"),
    ]
)
_LISTS = frozenset(
    ["table of contents", "list of illustrations", "list of tables", "list of recordings", "list of films", "index"]
)
_BY_TITLE = {
    "contents": "table of contents",
    "table of contents": "table of contents",
    "toc": "table of contents",
    "copyright": "copyright page",
    "copyright page": "copyright page",
    "copyright notice": "copyright page",
    "uncopyright": "uncopyright",
    "imprint": "imprint",
    "colophon": "colophon",
    "cover": "cover",
    "cover page": "cover",
    "title page": "title page",
    "titlepage": "title page",
    "half title": "half title page",
    "half title page": "half title page",
    "halftitlepage": "half title page",
    "index": "index",
    "illustrations": "list of illustrations",
    "list of illustrations": "list of illustrations",
    "list of figures": "list of illustrations",
    "list of maps": "list of illustrations",
    "list of plates": "list of illustrations",
    "list of tables": "list of tables",
    "by the same author": "advertisement",
    "newsletter": "advertisement",
    "advertisements": "advertisement",
    "notes": "notes",
    "endnotes": "notes",
    "footnotes": "notes",
    "about the author": "about the author",
    "about the authors": "about the author",
    "acknowledgements": "acknowledgments",
    "author's note": "author's note",
    "author’s note": "author's note",
} | {
    word: word
    for word in (
        *("dedication", "epigraph", "foreword", "preface", "introduction", "prologue", "epilogue", "afterword"),
        *("appendix", "acknowledgments", "conclusion", "glossary", "bibliography"),
    )
}
_ADVERTS = re.compile(
    r"(?i:also|other(?: \w+)?|(?:more )?(?:books|novels|titles|works)|more) (?i:available )?(?i:by|from) "
    r"(?:(?i:(?:the|this)(?: same)? author)|[A-Z][^\s,;:!?]*(?: [^\s,;:!?]+){0,5} [A-Z][^\s,;:!?]*)"
    r"|(?i:(?:join|sign up|subscribe)\b.{0,60}\b(?:newsletter|mailing list)\b.{0,40}|also available(?: from .{2,60})?)"
)
_STRONG = re.compile(
    r"\bISBN\b[-:–\s\d(]{0,12}[\dxX]|all rights reserved|no part of this (?:book|publication|work)", re.IGNORECASE
)
_WEAK = re.compile(
    r"copyright\b|©|\(c\) ?\d{4}|library of congress|cataloguing|cataloging|(?:first )?published (?:by|in)\b"
    r"|printed in|work of fiction|moral rights?|creative commons|public domain",
    re.IGNORECASE,
)
_LEGAL = re.compile(
    r"\b(?:fictitious|coincidental|living or dead|written permission|permission|reproduced|publishers?|trademarks?"
    r"|liability|catalogue record|first edition|cover (?:art|by|design|illustration|image|photo)|typeset|licen[cs]ed?"
    r"|third.party)\b",
    re.IGNORECASE,
)
"""What the sentences of a copyright page say besides."""
_TITLE_WORDS = frozenset(
    [
        "a",
        "an",
        "the",
        "by",
        "and",
        "novel",
        "novella",
        "story",
        "stories",
        "of",
        "in",
        "illustrated",
        "edition",
        "edited",
        "translated",
        "from",
    ]
)
_WORD = re.compile(r"\w+")
_MAX_PAGE_CHARS = 12_000
_MAX_COPYRIGHT_CHARS = 6_000
_MAX_TITLE_PAGE_CHARS = 400
_MIN_LINKS = 3
_MIN_SENTENCE_CHARS = 40
_MAX_PROSE_SHARE = 0.4


@dataclass(frozen=True, slots=True)
class Page:
    """What of a chapter tells what it is. `told` is what the book says of it, and `told_by` where.

    `num_linked` counts the characters in links, `place` is -1 before the body, 1 after it, and 0 within.
    """

    title: str
    blocks: Sequence[Block]
    told: str = ""
    told_by: str = ""
    num_linked: int = 0
    place: int = 0


def tell_matter(page: Page, book_title: str = "", authors: Sequence[str] = ()) -> tuple[str, str]:
    """What front or back matter a chapter is, and by what it is known; empty strings for the body."""
    is_sure = page.told_by == "type" or page.told not in NOT_HEARD or not _is_story(page, page.told)
    if page.told and _may_be(page, page.told) and is_sure:  # guides often name the first chapter a cover or contents
        return page.told, page.told_by
    title = page.title.casefold().strip(" .:")
    by_title = _BY_TITLE.get(title, "") or ("advertisement" if _ADVERTS.fullmatch(page.title.strip(" .:")) else "")
    if by_title in NOT_HEARD and _is_story(page, by_title):
        by_title = ""
    if by_title and _may_be(page, by_title) and (page.place or by_title not in NOT_HEARD or by_title in _LISTS):
        return by_title, "title"
    by_shape = _by_shape(page, book_title, authors) if page.place else ""
    return by_shape, "text" if by_shape else ""


def _may_be(page: Page, matter: str) -> bool:
    """Whether a chapter's length doesn't speak against it: a "Cover" that is a whole book is none."""
    if matter not in NOT_HEARD:
        return True
    num_chars = sum(len(block.text) for block in page.blocks)
    num_texts = sum(bool(block.text) for block in page.blocks)
    if matter in _LISTS:
        return num_chars <= 3000 or num_chars <= 200 * num_texts
    return num_chars <= _MAX_PAGE_CHARS


def _by_shape(page: Page, book_title: str, authors: Sequence[str]) -> str:
    texts = [block.text for block in page.blocks if block.text]
    num_chars = sum(map(len, texts))
    if not texts:
        return ""
    is_linked = page.num_linked >= max(0.8 * num_chars - 20, num_chars / 2)
    if is_linked and len(texts) > _MIN_LINKS and not any(map(_is_prose, texts)):
        return "table of contents"
    if _ADVERTS.fullmatch(texts[0]) or texts[0].casefold().strip(" .:") == "by the same author":
        return "advertisement" if num_chars <= _MAX_PAGE_CHARS else ""
    return _copyright_page(texts, num_chars) or _title_page(texts, num_chars, book_title, authors)


def _copyright_page(texts: Sequence[str], num_chars: int) -> str:
    """A story in which somebody says "all rights reserved" is none: most of its sentences say other things."""
    whole = "\n".join(texts) if num_chars <= _MAX_COPYRIGHT_CHARS else ""
    num_signs = len({found[0].casefold() for found in _WEAK.finditer(whole)})
    if not _STRONG.search(whole) or (num_signs == 0 and num_chars > 600):
        return ""
    prose = sum(len(text) for text in texts if _tells_a_story(text))
    return "copyright page" if prose <= _MAX_PROSE_SHARE * num_chars else ""


def _is_story(page: Page, matter: str) -> bool:
    """Whether a chapter that is called like matter ("Index", "Cover") is told in sentences all the same."""
    texts = [block.text for block in page.blocks if block.text and block.kind is not Kind.HEADING]
    num_chars = sum(map(len, texts))
    if matter == "advertisement" or num_chars <= (300 if matter in _LISTS else 1500) or page.num_linked > num_chars / 4:
        return False
    story = [text for text in texts if _tells_a_story(text) and sum(map(str.isdigit, text)) < len(text) / 20]
    return sum(map(len, story)) > 0.6 * num_chars


def _tells_a_story(text: str) -> bool:
    is_sentence = len(text) > _MIN_SENTENCE_CHARS and ends_sentence(text)
    return (is_sentence or len(text) > 150) and not any(sign.search(text) for sign in (_STRONG, _WEAK, _LEGAL))


def _title_page(texts: Sequence[str], num_chars: int, book_title: str, authors: Sequence[str]) -> str:
    if num_chars > _MAX_TITLE_PAGE_CHARS or not book_title:
        return ""
    title = _words(book_title)
    if not any(_words(text) == title for text in texts):
        return ""
    known = set(title) | _TITLE_WORDS | {word for author in authors for word in _words(author)}
    if set(_words(" ".join(texts))) - known:
        return ""
    return "title page" if len(texts) > 1 else "half title page"


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


def _is_prose(text: str) -> bool:
    return len(text) > 150 and ends_sentence(text)


def is_only_headings(blocks: Sequence[Block]) -> bool:
    return bool(blocks) and all(block.kind is Kind.HEADING for block in blocks)
