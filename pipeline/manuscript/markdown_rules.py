"""What CommonMark takes for HTML or a link's definition, and a manuscript means as text: `<Quest>`, `[Bob]: Yes.`"""

from __future__ import annotations

import re

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock, html_block, reference
from markdown_it.rules_inline import StateInline, html_inline

CLOSED_TAGS = "closed_tags"
"""The key of the environment under which the names are that the source has end tags of."""
# fmt: off
_ELEMENTS = frozenset(
    [
        "a", "abbr", "acronym", "address", "applet", "area", "article", "aside", "audio", "b", "base",
        "basefont", "bdi", "bdo", "bgsound", "big", "blink", "blockquote", "body", "br", "button", "canvas",
        "caption", "center", "cite", "code", "col", "colgroup", "command", "data", "datalist", "dd", "del",
        "details", "dfn", "dialog", "dir", "div", "dl", "dt", "em", "embed", "fieldset", "figcaption", "figure",
        "font", "footer", "form", "frame", "frameset", "h1", "h2", "h3", "h4", "h5", "h6", "head", "header",
        "hgroup", "hr", "html", "i", "iframe", "image", "img", "input", "ins", "kbd", "keygen", "label",
        "legend", "li", "link", "main", "map", "mark", "marquee", "menu", "menuitem", "meta", "meter", "nav",
        "nobr", "noembed", "noframes", "noscript", "object", "ol", "optgroup", "option", "output", "p", "param",
        "picture", "plaintext", "pre", "progress", "q", "rb", "rp", "rt", "rtc", "ruby", "s", "samp", "script",
        "search", "section", "select", "slot", "small", "source", "span", "strike", "strong", "style", "sub",
        "summary", "sup", "svg", "table", "tbody", "td", "template", "textarea", "tfoot", "th", "thead", "time",
        "title", "tr", "track", "tt", "u", "ul", "var", "video", "wbr", "xmp", "circle", "defs", "desc",
        "ellipse", "g", "line", "lineargradient", "path", "polygon", "polyline", "radialgradient", "rect",
        "stop", "symbol", "text", "textpath", "tspan", "use", "annotation", "annotation-xml", "math",
        "menclose", "merror", "mfenced", "mfrac", "mi", "mmultiscripts", "mn", "mo", "mover", "mpadded",
        "mphantom", "mroot", "mrow", "ms", "mspace", "msqrt", "mstyle", "msub", "msubsup", "msup", "mtable",
        "mtd", "mtext", "mtr", "munder", "munderover", "semantics", "foreignobject", "clippath", "metadata",
    ]
)
_BARE_ATTRIBUTES = frozenset(
    [
        "allowfullscreen", "async", "autofocus", "autoplay", "checked", "compact", "controls", "declare",
        "default", "defer", "disabled", "download", "formnovalidate", "hidden", "inert", "ismap", "itemscope",
        "loop", "multiple", "muted", "nohref", "nomodule", "noresize", "noshade", "novalidate", "nowrap",
        "open", "playsinline", "readonly", "required", "reversed", "scoped", "selected",
    ]
)
_NEEDS_NO_END = frozenset(
    [
        "body", "br", "col", "dd", "dt", "head", "hr", "html", "img", "li", "meta", "option", "p", "rp", "rt",
        "tbody", "td", "tfoot", "th", "thead", "tr",
    ]
)
# fmt: on
_KEYS = frozenset(["del", "menu", "select"])
_TAG = re.compile(r"<(/?)([A-Za-z][A-Za-z0-9-]*)(?=[\s/>])([^<>]*)>")
_END_TAG = re.compile(r"</([A-Za-z][A-Za-z0-9-]*)\s*>")
_OTHER_MARK = re.compile(r"<(?=!(?!--|\[CDATA\[|doctype\b)|\?(?![a-z]))", re.IGNORECASE)
_ATTRIBUTE_PART = re.compile(r"=\s*(?:\"[^\"]*\"?|'[^']*'?|[^\s\"']*)|[^\s=]+")
_DEFINITION = re.compile(r"\[(?:\\.|[^\[\]\\])*\]:\s*(<[^<>\n]*>|\S+)", re.DOTALL)
_DESTINATION = re.compile(r"\A<?[#/]|[\w.]/|\w\.\w|[A-Za-z]:\w")
LINK_DEFINITION = "definition"


def use_rules(parser: MarkdownIt) -> None:
    """Set the parser's rules right: tags are those of HTML, and a definition has a destination, and is a token."""
    parser.options["inline_definitions"] = True
    parser.block.ruler.at("html_block", _read_html_block, {"alt": ["paragraph", "reference", "blockquote"]})
    parser.block.ruler.at("reference", _read_definition)
    parser.inline.ruler.at("html_inline", _read_html_inline)


def find_closed_tags(source: str) -> frozenset[str]:
    return frozenset(name.lower() for name in _END_TAG.findall(source))


def escape_other_tags(markup: str, closed: frozenset[str]) -> str:
    """Make what only looks like a tag the text that it is."""
    tags = _TAG.sub(lambda tag: tag[0] if _is_tag(tag, closed) else "&lt;" + tag[0][1:], markup)
    return _OTHER_MARK.sub("&lt;", tags)


def _is_tag(tag: re.Match[str], closed: frozenset[str]) -> bool:
    """`<Menu closed>` and a `<Mark>` that nothing closes are none: they are words of the text."""
    name = tag[2].lower()
    if name not in _ELEMENTS:
        return False
    if tag[1]:
        return True
    if not _BARE_ATTRIBUTES.issuperset(_bare_attributes(tag[3].rstrip("/").lower())):
        return False
    is_word = not tag[3].strip() and (name in _KEYS or (len(name) > 1 and tag[2] == name.capitalize()))
    return not is_word or name in closed or name in _NEEDS_NO_END


def _bare_attributes(attributes: str) -> list[str]:
    """The names that have no value."""
    bare: list[str] = []
    for part in _ATTRIBUTE_PART.findall(attributes):
        if not part.startswith("="):
            bare.append(part)
        elif bare:
            bare.pop()
    return bare


def _begins_with_other_tag(source: str, start: int, end: int, closed: frozenset[str]) -> bool:
    if _OTHER_MARK.match(source, start, end):
        return True
    tag = _TAG.match(source, start, end)
    return tag is not None and not _is_tag(tag, closed)


def _read_html_block(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    begin = state.bMarks[start] + state.tShift[start]
    if _begins_with_other_tag(state.src, begin, state.eMarks[start], state.env.get(CLOSED_TAGS, frozenset())):
        return False
    return html_block(state, start, end, silent)


def _read_html_inline(state: StateInline, silent: bool) -> bool:
    if state.src[state.pos] != "<" or _begins_with_other_tag(
        state.src, state.pos, state.posMax, state.env.get(CLOSED_TAGS, frozenset())
    ):
        return False
    return html_inline(state, silent)


def _read_definition(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """`[Bob]: Yes.` is speech: what is defined is a place, by an address, a path or a fragment."""
    found = _DEFINITION.match(state.src, state.bMarks[start] + state.tShift[start])
    if found and not _DESTINATION.search(found[1]):
        return False
    if not reference(state, start, end, silent):
        return False
    if not silent:
        state.tokens[-1].content = state.getLines(start, state.line, state.blkIndent, False)
    return True
