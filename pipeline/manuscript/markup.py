"""XML and HTML to a tree: entities kept, nothing fetched, nothing dropped."""

from __future__ import annotations

import html
import re
from collections.abc import Callable

from lxml import etree

from pipeline.errors import ManuscriptError
from pipeline.manuscript.encoding import decode_markup
from pipeline.manuscript.proof import check_parsed
from pipeline.manuscript.soup import flatten, mend_soup

_XML_LANG = "{http://www.w3.org/XML/1998/namespace}lang"
OPS = "http://www.idpf.org/2007/ops"

_DECLARATION = re.compile(r"^\s*<\?xml[^>]*\?>")
_DOCTYPE = re.compile(r"<!DOCTYPE[^\[>]*(?:\[(.*?)\]\s*)?>", re.IGNORECASE | re.DOTALL)
_INTERNAL_ENTITY = re.compile(r"<!ENTITY\s+([\w.-]+)\s+([\"'])(.*?)\2\s*>", re.DOTALL)
_EXTERNAL_ENTITY = re.compile(r"<!ENTITY\s+([\w.-]+)\s+(?:SYSTEM|PUBLIC)\b")
_REFERENCE = re.compile(r"&(#?\w+;?)?")
ILLEGAL = re.compile("[\x00-\x08\x0b\x0e-\x1f\ufffe\uffff\ud800-\udfff]")
_OPENED = re.compile(r"<!--|<!\[CDATA\[")
_MAX_ENTITY_CHARS = 1000
_TOO_DEEP = "depth"


def parse_markup(data: bytes, name: str = "", language: str = "") -> etree._Element | None:
    """The root of a marked-up file, parsed as XML, or as HTML where it isn't well-formed. None when empty.

    `language` is the book's, by which faulty encodings are known. A `Span.node` is an XPath of this tree.
    Raises `ManuscriptError` when it is nested too deep to read.
    """
    return parse_markup_text(decode_markup(data, language), name)


def parse_markup_text(text: str, name: str = "") -> etree._Element | None:
    source = _make_self_contained(text)
    if not source.strip():
        return None
    try:
        return etree.fromstring(source.encode(), _xml_parser())
    except etree.XMLSyntaxError as error:
        if _TOO_DEEP not in str(error):
            return _parse_html(source, name)
    try:
        return etree.fromstring(flatten(source).encode(), _xml_parser())
    except etree.XMLSyntaxError:
        return _parse_html(source, name)


def parse_xml(data: bytes) -> etree._Element | None:
    """The root of a package file (OPF, NCX, container), with faults mended as far as they can be, or None."""
    source = _make_self_contained(decode_markup(data)).strip()
    if not source:
        return None
    try:
        return etree.fromstring(source.encode(), _xml_parser())
    except etree.XMLSyntaxError:
        pass  # most faults of a package file can be mended
    try:
        return etree.fromstring(source.encode(), _xml_parser(recover=True))
    except etree.XMLSyntaxError:
        return None


def _xml_parser(recover: bool = False) -> etree.XMLParser:
    return etree.XMLParser(
        encoding="utf-8",
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        huge_tree=False,
        recover=recover,
    )


def _parse_html(source: str, name: str) -> etree._Element | None:
    """Raises `UnaccountedError` when the tree lacks text that the file has, or takes markup for text."""
    mended = mend_soup(source)
    root, is_too_deep = _try_html(mended)
    if is_too_deep:
        root, is_too_deep = _try_html(flatten(mended))
    if is_too_deep:
        raise ManuscriptError(
            f"{name} nests its elements too deep to be read; open it in an EPUB or HTML editor and save it."
        )
    check_parsed(source, root, name)
    return root


def _try_html(source: str) -> tuple[etree._Element | None, bool]:
    """The tree, and whether libxml2 lost text for it would have been more than 256 levels deep."""
    parser = etree.HTMLParser(encoding="utf-8", no_network=True)
    try:
        root = etree.fromstring(source.encode(), parser)
    except etree.XMLSyntaxError:
        root = None
    return root, any(_TOO_DEEP in error.message for error in parser.error_log)


def _make_self_contained(text: str) -> str:
    """Replace every entity by its characters and drop the DTD, so that a parser has nothing to look up."""
    text = ILLEGAL.sub("", _DECLARATION.sub("", text, count=1)).replace("\f", " ")
    entities: dict[str, str] = {}
    doctype = _DOCTYPE.search(text, 0, 100_000)
    if doctype:
        text = text[: doctype.start()] + text[doctype.end() :]
        entities = _declared_entities(doctype[1] or "")

    def resolve(reference: re.Match[str]) -> str:
        name = (reference[1] or "").rstrip(";")
        return html.escape(entities[name] if name in entities else html.unescape(reference[0]))

    return _replace_references(text, resolve)


def _replace_references(text: str, resolve: Callable[[re.Match[str]], str]) -> str:
    """Resolve all references, but for those in comments, and make a CDATA section the text it is.

    What isn't closed, and would take the rest of the file with it, ends at once.
    """
    pieces: list[str] = []
    done = 0
    unclosed: set[str] = set()
    while opened := _OPENED.search(text, done):
        end = -1 if opened[0] in unclosed else text.find("-->" if opened[0] == "<!--" else "]]>", opened.end())
        if end < 0:
            unclosed.add(opened[0])
        pieces.append(_REFERENCE.sub(resolve, text[done : opened.start()]))
        done = end + 3 if end >= 0 else opened.end()
        if opened[0] != "<!--" and end >= 0:
            pieces.append(html.escape(text[opened.end() : end]))
        elif end >= 0:
            pieces.append(text[opened.start() : done])
    return "".join(pieces) + _REFERENCE.sub(resolve, text[done:])


def _declared_entities(subset: str) -> dict[str, str]:
    """Entities of an internal DTD subset. External ones are empty: no file is ever read for them."""
    entities = {found[1]: "" for found in _EXTERNAL_ENTITY.finditer(subset)}
    for found in _INTERNAL_ENTITY.finditer(subset):
        value = html.unescape(html.unescape(found[3]))  # once as it is declared, once where it is used
        entities[found[1]] = value if len(value) <= _MAX_ENTITY_CHARS else ""
    return entities


def local_name(element: etree._Element) -> str:
    """The tag without its namespace or prefix, in lower case; empty for comments and the like."""
    tag = element.tag
    return tag.rpartition("}")[2].rpartition(":")[2].lower() if isinstance(tag, str) else ""


def language_of(root: etree._Element) -> str:
    """What a tree, or its body, says of its language; empty where it says nothing."""
    for element in (root, *root.iter("{*}body")):
        if language := element.get("lang") or element.get(_XML_LANG):
            return language.strip()
    return ""


def types_of(element: etree._Element) -> frozenset[str]:
    """What an element is, by `epub:type` and ARIA role: `doc-noteref` and `noteref` are one."""
    words = element.get(f"{{{OPS}}}type") or element.get("epub:type") or ""
    roles = element.get("role") or ""
    if not words and not roles:
        return frozenset()
    return frozenset(word.lower() for word in words.split()) | frozenset(
        role.lower().removeprefix("doc-") for role in roles.split()
    )
