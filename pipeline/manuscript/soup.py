"""Markup that is no XML, set right where an HTML parser would lose text by it; and a look at what it should hold.

Such a parser takes all that comes after an unclosed `<title>`, comment or quotation mark for its content.
"""

from __future__ import annotations

import html
import re

_NAME = r"[A-Za-z][\w:.-]*+"
_TAG = re.compile(
    rf"<(?P<slash>/?)(?P<name>{_NAME})(?P<rest>(?:[^<>\"']|\"[^\"<]*\"|'[^'<]*')*+)>"
    rf"|<(?P<bad_slash>/?)(?P<bad_name>{_NAME})(?P<bad_rest>[^<>]*)(?P<bad_end>>|\Z)?"
)
"""A tag, or one whose quotation marks don't pair."""
_ATTRIBUTE = re.compile(
    r"(?P<name>[A-Za-z_][\w:.-]*)(?:\s*=\s*(?:\"(?P<a>[^\"]*)\"|'(?P<b>[^']*)'|(?P<c>[^\s\"'=<>`]+)))?"
)
_LOOKS_LIKE_TAG = re.compile(r"\s*+/?\s*+\Z|\s++[\w:-]++\s*+=")
_IS_XHTML = re.compile(r"^\s*<\?xml\b|\bxmlns\s*=", re.IGNORECASE)
_VOID = frozenset(
    ["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr"]
)
_RAW = frozenset(["title", "script", "style", "textarea", "iframe", "xmp", "noembed", "noframes"])
"""What such a parser reads up to the end tag, whatever comes between."""
_TEXT_BEGINS = r"</head|<body|<h[1-6]|<p\b|<div"
_SKIPPED = re.compile(r"<(?P<name>script|style)\b[^<>]*(?<!/)>|<!--|<[!?/A-Za-z]", re.IGNORECASE)
_COMMENT_ENDS = re.compile("-->")
_TAG_BEGINS = re.compile("<")
_TAG_ENDS = re.compile(">")
_CLOSED_BY_OTHERS = frozenset(["p", "li", "dt", "dd", "td", "th", "tr", "option", "html", "body", "thead", "tbody"])
_BLOCK_WRAPPERS = frozenset(["div", "center", "section", "article", "blockquote", "ul", "ol"])
_INLINE_WRAPPERS = frozenset(["span", "font", "b", "i", "em", "strong", "u", "s", "small", "big", "tt"])
_MAX_DEPTH = 80  # an unclosed paragraph may lie between each two of them, and libxml2 stops at 256


def mend_soup(text: str) -> str:
    """Write all tags so that they can't be misread, and what is none as text; comments and the like are dropped.

    What swallows the text after it is closed: raw text, and the self-closed elements of XHTML.
    """
    is_xhtml = _IS_XHTML.search(text[:2000]) is not None
    pieces: list[str] = []
    done = 0
    missing: set[str] = set()
    while (start := text.find("<", done)) >= 0:
        pieces.append(text[done:start])
        done = start + 1
        if text.startswith(("<!", "<?"), start):
            end = _find(_COMMENT_ENDS if text.startswith("<!--", start) else _TAG_ENDS, text, start + 2, missing)
            pieces.append("" if end else "&lt;")
            done = end.end() if end else done
            continue
        tag = _TAG.match(text, start)
        if tag is None or not _is_tag(tag):
            pieces.append("&lt;")
            continue
        done = tag.end()
        name = (tag["name"] or tag["bad_name"]).lower()
        is_end = bool(tag["slash"] or tag["bad_slash"])
        pieces.append(f"</{tag['name'] or tag['bad_name']}>" if is_end else _write_tag(tag))
        if is_end and name in ("body", "html"):
            pieces.pop()  # what follows is text all the same, and libxml2 would set it beside the tree
        elif not is_end and (tag["rest"] or "").endswith("/") and name not in _VOID and (is_xhtml or name in _RAW):
            pieces.append(f"</{name}>")
        elif not is_end and name in _RAW:
            end_of_raw = _end_of_raw(text, name, done, missing)
            raw = text[done:end_of_raw]
            pieces += [raw if name in ("script", "style") else html.escape(flat_text(raw)), f"</{name}>"]
            done = end_of_raw
    return "".join(pieces) + text[done:]


def _write_tag(tag: re.Match[str]) -> str:
    """A start tag with its attributes in quotation marks; one with a mark too few loses them."""
    pieces = [tag["name"] or tag["bad_name"]]
    for found in _ATTRIBUTE.finditer((tag["rest"] or "").rstrip("/")):
        value = found["a"] or found["b"] or found["c"] or ""
        pieces.append(f"{found['name']}='{value.replace(chr(39), '&#39;')}'")
    return f"<{' '.join(pieces)}>"


def _end_of_raw(text: str, name: str, start: int, missing: set[str]) -> int:
    """Where the text of a raw element ends: before its end tag, or before the first tag where it has none."""
    stop = rf"</{name}\b" + (rf"|{_TEXT_BEGINS}" if name == "title" else "")
    end = _find(re.compile(stop, re.IGNORECASE), text, start, missing)
    if end is None and name in ("script", "style"):
        end = _find(re.compile(_TEXT_BEGINS, re.IGNORECASE), text, start, missing)
    if end is None:
        end = _find(_TAG_BEGINS, text, start, missing)
    return end.start() if end else len(text)


def flatten(text: str) -> str:
    """Drop the tags of elements that only wrap others where they lie too deep for a parser; their text stays."""
    open_: list[tuple[str, bool]] = []
    counts: dict[str, int] = {}

    def replace(tag: re.Match[str]) -> str:
        name = (tag["name"] or "").lower()
        if not name or name in _VOID or tag["rest"].endswith("/") or name in _CLOSED_BY_OTHERS:
            return tag[0]
        border = "<div></div>" if name in _BLOCK_WRAPPERS else ""
        if not tag["slash"]:
            is_dropped = len(open_) >= _MAX_DEPTH and name in _BLOCK_WRAPPERS | _INLINE_WRAPPERS
            open_.append((name, is_dropped))
            counts[name] = counts.get(name, 0) + 1
            return border if is_dropped else tag[0]
        if not counts.get(name):
            return tag[0]
        while open_:
            closed, is_dropped = open_.pop()
            counts[closed] -= 1
            if closed == name:
                return border if is_dropped else tag[0]
        return tag[0]

    return _TAG.sub(replace, text)


def flat_text(text: str) -> str:
    """All that stands outside of tags, comments, scripts and style sheets, by a look that knows no elements."""
    pieces: list[str] = []
    done = 0
    missing: set[str] = set()
    while found := _SKIPPED.search(text, done):
        pieces.append(text[done : found.start()])
        done = found.end()
        opened = found[0].lower()
        end: re.Match[str] | None
        if found["name"]:
            end = _find(re.compile(rf"</{found['name']}\b[^<>]*>", re.IGNORECASE), text, done, missing)
        elif opened == "<!--":
            end = _find(_COMMENT_ENDS, text, done, missing)
        elif opened in ("<!", "<?"):
            end = _find(_TAG_ENDS, text, done, missing)
        else:
            tag = _TAG.match(text, found.start())
            end = tag if tag and _is_tag(tag) else None
            pieces.append("" if end else found[0])
        done = end.end() if end else done
    return html.unescape("".join(pieces) + text[done:])


def _is_tag(tag: re.Match[str]) -> bool:
    return tag["name"] is not None or tag["bad_end"] is not None or _LOOKS_LIKE_TAG.match(tag["bad_rest"]) is not None


def _find(wanted: re.Pattern[str], text: str, start: int, missing: set[str]) -> re.Match[str] | None:
    """The next match; what wasn't found once isn't looked for again."""
    found = None if wanted.pattern in missing else wanted.search(text, start)
    if found is None:
        missing.add(wanted.pattern)
    return found
