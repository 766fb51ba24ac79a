"""Markdown to a `Book`, by way of HTML. Spans are places in the tree that `render_markdown` makes."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

import yaml
from lxml import etree
from markdown_it import MarkdownIt
from markdown_it.common.utils import escapeHtml
from markdown_it.renderer import RendererProtocol
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict
from mdit_py_plugins.deflist import deflist_plugin
from mdit_py_plugins.footnote import footnote_plugin
from mdit_py_plugins.subscript import sub_plugin
from mdit_py_plugins.superscript import superscript_plugin

from pipeline.manuscript.book import Book
from pipeline.manuscript.encoding import decode_text
from pipeline.manuscript.gutenberg import leave_out_boilerplate
from pipeline.manuscript.html import read_tree
from pipeline.manuscript.left_out import LEFT_OUT
from pipeline.manuscript.markdown_rules import (
    CLOSED_TAGS,
    LINK_DEFINITION,
    escape_other_tags,
    find_closed_tags,
    use_rules,
)
from pipeline.manuscript.markup import ILLEGAL, parse_markup_text
from pipeline.manuscript.one_document import make_book
from pipeline.manuscript.prose import clean
from pipeline.manuscript.reading import Reading

_YAML_HEAD = re.compile(r"\A---[ \t]*\n(?=[\w-]+[ \t]*:)(.*?\n)(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_TOML_HEAD = re.compile(r"\A\+\+\+[ \t]*\n(.*?\n)\+\+\+[ \t]*(?:\n|\Z)", re.DOTALL)
_YAML_LINE = re.compile(r"\s*(?:\Z|#|-\s|[\w-]+[ \t]*:(?:\s|\Z))|[ \t]+\S")
_TOML_LINE = re.compile(r"\s*(?:\Z|#|\[|[\]}\"']|[\w.-]+[ \t]*=)|[ \t]+\S")
_MAX_HEAD_CHARS = 100_000
_HEADING_ATTRIBUTES = re.compile(r"\{[#.:][^{}]*\}\s*\Z")
_CODE = re.compile(r"""[{}<>=|\\`]|\w_\w|\w\(\)|\w\(["']|^[ \t]*(?:\$|>>>|//|\#!?)\s""", re.MULTILINE)
_SENTENCE_END = re.compile(r"""[^\W\d_][.?!…,;—-]+["'”’»)]*\s*\Z|\A\s*["“«‘].*["”»’]\s*\Z""")
_MAX_SHORT = 200
_MAX_OPEN_BRACKETS = 2000
_MARK = "data-render-book"


def read_markdown(name: str, data: bytes, reading: Reading) -> Book:
    """Read Markdown (CommonMark with tables, notes and definitions), its metadata from a YAML or TOML head.

    Raises `ManuscriptError` when embedded HTML is nested too deep to read.
    """
    root, fields = render_markdown(decode_text(data), name)
    language = "".join(_texts(fields.get("lang") or fields.get("language"))[:1])
    document = read_tree(root, name, reads_notes=reading.notes != "skip", language=language)
    leave_out_boilerplate([document])
    top = [document.blocks[block].text for block, level in document.levels.items() if level == 1]
    titles = _texts(fields.get("title"))
    return make_book(
        document,
        reading,
        title=titles[0] if titles else top[0] if len(top) == 1 else "",
        authors=tuple(_texts(fields.get("author") or fields.get("authors") or fields.get("creator"))),
        language=language,
        publisher="".join(_texts(fields.get("publisher"))[:1]),
        date="".join(_texts(fields.get("date"))[:1]),
    )


def render_markdown(text: str, name: str = "") -> tuple[etree._Element, dict[str, Any]]:
    """The tree of HTML that the spans of a Markdown file are places in, and its metadata by lower-case names."""
    source = ILLEGAL.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
    head, fields, source = _split_head(source)
    env: dict[str, Any] = {CLOSED_TAGS: find_closed_tags(source)}
    rendered = _PARSER.render(_escape_senseless(source), env)
    notes = "".join(env.get("inline_notes", ()))
    root = parse_markup_text(f"<html><body>\n{rendered}{notes}</body></html>", name)
    assert root is not None
    body = next(root.iter("body"), root)
    if head:
        block = etree.Element("div", {LEFT_OUT: "front matter"})
        block.text, block.tail, body.text = head, body.text, None
        body.insert(0, block)
    for element in body.iter("pre", "span"):
        if reason := element.get(_MARK):
            element.set(LEFT_OUT, reason)
            del element.attrib[_MARK]
    for heading in body.iter("h1", "h2", "h3", "h4", "h5", "h6"):
        _part_attributes(heading)
    return root, fields


def _escape_senseless(source: str) -> str:
    """Brackets by the thousand that nothing closes are mere characters: a parser would look for the end of each."""
    if source.count("[") <= _MAX_OPEN_BRACKETS:
        return source
    parts = re.split(r"(\n[ \t]*\n)", source)
    for number, part in enumerate(parts):
        if part.count("[") - part.count("]") > _MAX_OPEN_BRACKETS:
            parts[number] = re.sub(r"\\.|\[", lambda found: "\\[" if found[0] == "[" else found[0], part)
    return "".join(parts)


def _split_head(source: str) -> tuple[str, dict[str, Any], str]:
    """A YAML or TOML head, what it says, and the text below it.

    One that can't be read but has the lines of one is left out as it is. Else it is text between two scene rules.
    """
    fields: object = None
    line = _YAML_LINE
    found = _YAML_HEAD.match(source, 0, _MAX_HEAD_CHARS)
    if found:
        try:
            fields = yaml.load(found[1], yaml.BaseLoader)  # which makes strings only
        except (yaml.YAMLError, RecursionError, ValueError):
            fields = None
    elif found := _TOML_HEAD.match(source, 0, _MAX_HEAD_CHARS):
        line = _TOML_LINE
        try:
            fields = tomllib.loads(found[1])
        except (tomllib.TOMLDecodeError, RecursionError):
            fields = None
    if found is None:
        return "", {}, source
    if not isinstance(fields, Mapping):
        if not all(line.match(text) for text in found[1].split("\n")):
            return "", {}, source
        fields = {}
    return found[0], {str(key).lower(): value for key, value in fields.items()}, source[found.end() :]


def _texts(value: object) -> list[str]:
    """A value of the head as texts: a word, a list of them, or of mappings with a name."""
    if isinstance(value, Mapping):
        value = value.get("name") or value.get("text")
    if isinstance(value, list):
        return [text for item in value[:100] if not isinstance(item, list) for text in _texts(item)]
    text = clean(str(value)) if value is not None and not isinstance(value, Mapping) else ""
    return [text] if text else []


def _part_attributes(heading: etree._Element) -> None:
    """Set the `{#id .class}` at a heading's end apart, to be left out."""
    last = heading[-1] if len(heading) else None
    text = (last.tail if last is not None else heading.text) or ""
    found = _HEADING_ATTRIBUTES.search(text)
    if found:
        mark = etree.SubElement(heading, "span", {LEFT_OUT: "attributes of a heading"})
        mark.text = found[0]
        if last is not None:
            last.tail = text[: found.start()]
        else:
            heading.text = text[: found.start()]


# How tokens are rendered that the default would lose, or that aren't read


def _code(self: RendererProtocol, tokens: Sequence[Token], index: int, options: OptionsDict, env: EnvType) -> str:
    return f'<pre {_MARK}="code">{escapeHtml(tokens[index].content)}</pre>\n'


def _indented(self: RendererProtocol, tokens: Sequence[Token], index: int, options: OptionsDict, env: EnvType) -> str:
    """Indented text is code by the rules, and prose in many a manuscript: most of its parts decide for all."""
    parts = [part for part in re.split(r"\n[ \t]*\n", tokens[index].content) if part.strip()]
    num_code = sum(bool(_CODE.search(part)) for part in parts)
    num_prose = sum(_is_prose(part) for part in parts)
    if num_prose > num_code:
        return "".join(f"<p>{escapeHtml(part)}</p>\n" for part in parts)
    return "".join(f'<pre {_MARK}="code">{escapeHtml(part)}</pre>\n' for part in parts)


def _is_prose(part: str) -> bool:
    return not _CODE.search(part) and (len(part.split()) >= 3 or bool(_SENTENCE_END.search(part[-_MAX_SHORT:])))


def _image(self: RendererProtocol, tokens: Sequence[Token], index: int, options: OptionsDict, env: EnvType) -> str:
    alt = escapeHtml(tokens[index].content)
    return f'<img alt="{alt}" /><span {_MARK}="picture description">{alt}</span>'


def _html(self: RendererProtocol, tokens: Sequence[Token], index: int, options: OptionsDict, env: EnvType) -> str:
    return escape_other_tags(tokens[index].content, env[CLOSED_TAGS])


def _definition(self: RendererProtocol, tokens: Sequence[Token], index: int, options: OptionsDict, env: EnvType) -> str:
    return f'<pre {_MARK}="definition of a link">{escapeHtml(tokens[index].content)}</pre>\n'


def _note_id(label: object, env: EnvType) -> str:
    known: dict[object, int] = env.setdefault("note_ids", {})
    return f"fn-{known.setdefault(label, len(known) + 1)}"


def _note_ref(self: RendererProtocol, tokens: Sequence[Token], index: int, options: OptionsDict, env: EnvType) -> str:
    meta = tokens[index].meta
    note = env["footnotes"]["list"][meta["id"]]
    label = meta.get("label") or note.get("label") or ("inline", meta["id"])
    key = _note_id(label, env)
    if "tokens" in note:
        inside = _PARSER.renderer.render(_as_inline(note), options, env)
        env.setdefault("inline_notes", []).append(f'<aside role="doc-footnote" id="{key}"><p>{inside}</p></aside>\n')
    shown = escapeHtml(label) if isinstance(label, str) else str(int(meta["id"]) + 1)
    return f'<a role="doc-noteref" href="#{key}">[{shown}]</a>'


def _as_inline(note: Mapping[str, Any]) -> list[Token]:
    token = Token("inline", "", 0)
    token.children, token.content = note["tokens"], note["content"]
    return [token]


def _open_note(self: RendererProtocol, tokens: Sequence[Token], index: int, options: OptionsDict, env: EnvType) -> str:
    return f'<aside role="doc-footnote" id="{_note_id(tokens[index].meta["label"], env)}">\n'


def _close_note(self: RendererProtocol, tokens: Sequence[Token], index: int, options: OptionsDict, env: EnvType) -> str:
    return "</aside>\n"


def _make_parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    parser.use(footnote_plugin, move_to_end=False).use(deflist_plugin).use(sub_plugin).use(superscript_plugin)
    use_rules(parser)
    for name, rule in (
        ("fence", _code),
        ("code_block", _indented),
        ("html_block", _html),
        ("image", _image),
        (LINK_DEFINITION, _definition),
        ("footnote_ref", _note_ref),
        ("footnote_reference_open", _open_note),
        ("footnote_reference_close", _close_note),
    ):
        parser.add_render_rule(name, rule)
    return parser


_PARSER = _make_parser()
