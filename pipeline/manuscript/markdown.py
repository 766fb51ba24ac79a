"""Markdown to a `Book`. Spans are those of the lines a block stands on."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from markdown_it import MarkdownIt
from markdown_it.token import Token

from pipeline.manuscript.book import Block, Book, Kind, LeftOut, Span
from pipeline.manuscript.chapters import divide
from pipeline.manuscript.document import Document
from pipeline.manuscript.encoding import decode_text
from pipeline.manuscript.html import read_tree
from pipeline.manuscript.markup import parse_markup_text
from pipeline.manuscript.prose import clean, is_ornament
from pipeline.manuscript.reading import Reading

_FRONT_MATTER = re.compile(r"\A---[ \t]*\n(?=\w[\w-]*:)(.*?\n)(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_FIELD = re.compile(r"^(\w+):[ \t]*(.+?)[ \t]*$", re.MULTILINE)
_NOTE = re.compile(r"^ {0,3}\[\^[^\]\s]+\]:.*(?:\n(?:[ \t]+\S.*|[ \t]*(?=\n[ \t]+\S)))*", re.MULTILINE)
_NOTE_MARK = re.compile(r"\[\^[^\]\s]+\]")
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_HEADING_ATTRIBUTES = re.compile(r"\s*\{[#.][^{}]*\}\s*$")
_KINDS = {"blockquote_open": Kind.QUOTE, "list_item_open": Kind.LIST_ITEM, "heading_open": Kind.HEADING}


def read_markdown(name: str, data: bytes, reading: Reading) -> Book:
    """Read Markdown (CommonMark with tables and footnotes), its metadata from a YAML head if there is one.

    Raises `ManuscriptError` when embedded HTML is nested too deep to read.
    """
    reader = _Reader(name, decode_text(data))
    reader.read()
    document, fields = reader.document, reader.fields
    top = [document.blocks[block].text for block, level in document.levels.items() if level == 1]
    author = fields.get("author", "")
    return Book(
        title=fields.get("title") or (top[0] if len(top) == 1 else ""),
        authors=(author,) if author else (),
        language=fields.get("lang") or fields.get("language", ""),
        chapters=divide([document]),
        left_out=tuple(sorted(document.left_out, key=lambda left: left.span.start)),
        date=fields.get("date", ""),
    )


@dataclass(slots=True)
class _Reader:
    name: str
    text: str
    document: Document = field(init=False)
    fields: dict[str, str] = field(default_factory=dict)
    _starts: list[int] = field(init=False)

    def __post_init__(self) -> None:
        self.document = Document(self.name)
        self._starts = [0]
        for line in re.split(r"(?<=\n)|(?<=\r)(?!\n)", self.text):
            self._starts.append(self._starts[-1] + len(line))

    def read(self) -> None:
        source = self.text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "")
        source = self._cut_out(_FRONT_MATTER, source, "front matter")
        source = self._cut_out(_NOTE, source, "note")
        kinds = [Kind.PARAGRAPH]
        level = 0
        lines = (0, 0)
        parser = MarkdownIt("commonmark").enable(["table", "strikethrough"])
        for token in parser.parse(source):
            if token.map:
                lines = (token.map[0], token.map[1])
            if token.nesting == 1:
                kinds.append(_KINDS.get(token.type, kinds[-1]))
                level = int(token.tag[1]) if token.type == "heading_open" else level
            elif token.nesting == -1:
                kinds.pop()
            else:
                self._read_leaf(token, kinds[-1], level, self._span(lines))

    def _cut_out(self, pattern: re.Pattern[str], source: str, reason: str) -> str:
        """Leave out what matches: whole lines, with blank ones in their place so that the count stays."""

        def blank(found: re.Match[str]) -> str:
            first = source.count("\n", 0, found.start())
            last = first + found[0].rstrip("\n").count("\n") + 1
            self._leave_out(clean(found[0]), reason, self._span((first, last)))
            if reason == "front matter":
                self.fields = {key.lower(): value.strip("\"'") for key, value in _FIELD.findall(found[1])}
            return re.sub(r"[^\n]", " ", found[0])

        return pattern.sub(blank, source)

    def _span(self, lines: tuple[int, int]) -> Span:
        start, end = self._starts[lines[0]], self._starts[lines[1]]
        raw = self.text[start:end]
        return Span(self.name, "", start + len(raw) - len(raw.lstrip()), start + len(raw.rstrip()))

    def _leave_out(self, text: str, reason: str, span: Span) -> None:
        if text:
            self.document.left_out.append(LeftOut(text, reason, span))

    def _read_leaf(self, token: Token, kind: Kind, level: int, span: Span) -> None:
        if token.type == "inline":
            self._add(self._inline_text(token.children or [], span), kind, level, span)
        elif token.type == "hr":
            self.document.blocks.append(Block(Kind.BREAK, "", span))
        elif token.type in ("fence", "code_block"):
            self._leave_out(clean(token.content), "code", span)
        elif token.type == "html_block":
            self._read_html(token.content, span)

    def _add(self, text: str, kind: Kind, level: int, span: Span) -> None:
        if kind is Kind.HEADING:
            text = _HEADING_ATTRIBUTES.sub("", text)
        if is_ornament(text):
            self.document.blocks.append(Block(Kind.BREAK, "", span))
        elif text:
            if kind is Kind.HEADING:
                self.document.levels[len(self.document.blocks)] = level
            self.document.blocks.append(Block(kind, text, span))

    def _inline_text(self, tokens: Sequence[Token], span: Span) -> str:
        pieces = []
        for token in tokens:
            if token.type in ("softbreak", "hardbreak"):
                pieces.append(" ")
            elif token.type == "image":
                self._leave_out(clean(token.content), "picture description", span)
            elif token.type == "html_inline":
                if token.content.startswith("<!--"):
                    self._leave_out(clean(token.content[4:-3]), "comment", span)
                elif re.match(r"<br\b", token.content, re.IGNORECASE):
                    pieces.append(" ")
            else:
                for mark in _NOTE_MARK.findall(token.content):
                    self._leave_out(mark, "note mark", span)
                pieces.append(_NOTE_MARK.sub("", token.content))
        return clean("".join(pieces))

    def _read_html(self, content: str, span: Span) -> None:
        for comment in _COMMENT.findall(content):
            self._leave_out(clean(comment[4:-3]), "comment", span)
        content = _COMMENT.sub("", content)
        root = parse_markup_text(f"<div>{content}</div>", self.name) if content.strip() else None
        if root is None:
            return
        # The spans of the small tree mean nothing outside it: those of the Markdown lines stand for them.
        part = read_tree(root, self.name)
        for index, level in part.levels.items():
            self.document.levels[len(self.document.blocks) + index] = level
        self.document.blocks += [Block(b.kind, b.text, span, b.continues) for b in part.blocks]
        self.document.left_out += [LeftOut(left.text, left.reason, span) for left in part.left_out]
