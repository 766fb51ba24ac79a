"""Roman numerals, where the words around them say that they are: chapters, kings, wars, acts, films."""

from __future__ import annotations

import re
import unicodedata

from pipeline.script.english.context import STARTER
from pipeline.script.english.numbers import name_cardinal, name_ordinal, name_year
from pipeline.script.rules import make_rule, text_after, text_before, word_before

_VALUES = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100, "d": 500, "m": 1000}
_WELL_FORMED = re.compile(r"m{0,3}(?:cm|cd|d?c{0,4})(?:xc|xl|l?x{0,4})(?:ix|iv|v?i{0,4})", re.IGNORECASE)

# Capitalised words that a number follows. What follows `_LETTERED` may as well be a letter.
_NUMBERED = (
    "Chapter|Chapters|Chap\\.|Ch\\.|Book|Books|Bk\\.|Part|Parts|Pt\\.|Act|Acts|Scene|Scenes|Volume|Volumes|"
    "Vol\\.|Vols\\.|"
    "Canto|Cantos|Stave|Letter|Letters|Psalm|Psalms|Sonnet|Lesson|Episode|Phase|Stage|Fig\\.|Figure|Title|No\\.|"
    "Number|Mark|Article|Articles|Plate|Table|Section|Sections|Sec\\.|Appendix|Type|Level|Grade|World War|War|Wars|"
    "Apollo|Gemini|Vostok|Voskhod|Salyut|Saturn|Titan|Super Bowl|Superbowl|Vatican|Schedule|Exhibit|Lecture|"
    "Essay|Ode|Elegy|"
    "Satire|Epistle|Idyll|Fit|Verse|Stanza|Hymn|Tablet|Movement|Symphony|Quartet|Olympiad|Cohort|Legion|Tale|Story|"
    "Group|Groups|Set|Series|Unit|Cycle|Question|Problem|Rule|Law|Theorem|Category|Experiment|Model|Sector|Tier|"
    "Generation|"
    "Chart|Map|Test|Trial|Game|Match|Item|Line|Row|Column|Chorus|Dialogue|Meditation|Concerto|Sonata|Prelude|"
    "Fugue|Variation|"
    "Nocturne|Opus|Century|Day|Night|Round|Ward|Division|Corps|Case|Note|Step|Region|Zone|Phase|Class|Rocky|"
    "Rambo|Jaws|Godfather|Terminator|"
    "Halloween|Superman|Alien|Predator|Fantasy|Fighter|Quake|Doom|Diablo|Pentium|Creed|Ghostbusters|Return|Program"
)
_LETTERED = frozenset(
    "section sections sec. appendix part parts figure fig. table plate type class level grade exhibit schedule "
    "letter letters "
    "set series unit cycle question problem rule law model sector tier generation chart map test trial item line "
    "row column ward division zone region note phase stage group day program title war wars act return story "
    "tale case".split()
)
_SINGLE_LETTERS = frozenset("CDLMcdlm")
_WARS = frozenset("war wars apollo gemini rocky saturn bowl vatican".split())

_ROYAL = (
    "Henry|George|Charles|Edward|James|Louis|Philip|Philippe|Pius|Leo|John|Paul|Gregory|Benedict|Clement|"
    "Alexander|Frederick|"
    "Friedrich|William|Wilhelm|Richard|Haakon|Olav|Gustav|Gustavus|Christian|Mohammed|Muhammad|Mehmed|Murad|"
    "Selim|Hassan|"
    "Ramses|Rameses|Ramesses|Thutmose|Amenhotep|Ptolemy|Cleopatra|Alfonso|Alphonso|Ferdinand|Ivan|Peter|"
    "Catherine|Elizabeth|"
    "Mary|Victoria|Napoleon|Francis|François|Franz|Joseph|Leopold|Otto|Conrad|Rudolf|Rudolph|Maximilian|Robert|"
    "David|Malcolm|"
    "Alexios|Constantine|Justinian|Theodosius|Nicholas|Innocent|Urban|Boniface|Julius|Sixtus|Adrian|Celestine|"
    "Eugene|Nikolaus|"
    "Darius|Xerxes|Artaxerxes|Cyrus|Antiochus|Seleucus|Carlos|Juan|Pedro|Umberto|Victor|Emmanuel|Albert|Baldwin|"
    "Abdul|Faisal|"
    "Margaret|Margrethe|Juliana|Isabella|Anne|Carl|Karl|Charles|Oscar|Casimir|Sigismund|Stephen|Bela|Vladimir|Boris"
)
_RULERS = (
    r"King|Queen|Pope|Emperor|Empress|Tsar|Czar|Kaiser|Prince|Sultan|Shah|Pharaoh|Duke|Archduke|Saint|St\.?|KING|"
    r"QUEEN|POPE|EMPEROR"
)
_NOT_A_NAME = frozenset(
    "the and but or if when while that this these those then there i he she it we they you chapter act scene "
    "part page said "
    "saw met was is are type size model in on at of to for from by with as".split()
)
_VERBS = (
    r"(?:was|is|were|am|have|had|has|will|would|shall|should|can|could|may|might|must|do|did|don't|didn't|never|always|"
    r"think|thought|know|knew|see|saw|went|go|came|come|said|say|told|tell|read|wrote|write|feel|felt|want|wanted|like|"
    r"liked|love|loved|hate|hated|need|needed|got|get|found|find|made|make|took|take|gave|give|hope|wish|left|"
    r"lost|just|only|also|too|"
    r"played|play|once|first|heard|ever|really|mean|meant|fear|believe|believed|suppose|used|still|"
    r"[a-z]+ed|'[a-z]+)\b"
)
_ROMAN = r"[IVXLC]+"


def read_roman(written: str) -> int | None:
    """The number, 0 < number < 4000; None where the letters aren't a well-formed numeral. IIII is one."""
    if not written or _WELL_FORMED.fullmatch(written) is None:
        return None
    values = [_VALUES[letter] for letter in written.lower()]
    return sum(-value if value < after else value for value, after in zip(values, [*values[1:], 0], strict=True))


def _plain(written: str) -> str:
    return unicodedata.normalize("NFKC", written)


def _say_numbered(match: re.Match[str]) -> str | None:
    """After a word that numbers follow. "I" only where it can't be the pronoun."""
    label = word_before(match)
    return _say_after(match, label) if label.lower() in _LABELS else None


def _say_small_numbered(match: re.Match[str]) -> str | None:
    label = word_before(match)
    return _say_after(match, label) if label.lower() in _SMALL_LABELS else None


def _say_after(match: re.Match[str], label: str) -> str | None:
    written = match["x"]
    value = read_roman(written)
    if value is None or value > 400:
        return None
    after = text_after(match)
    if written in _SINGLE_LETTERS and (label.lower() in _LETTERED or written.islower()):
        return None
    if written == "I" and label.lower() not in _WARS and (label.islower() or not _I_GOES_ON.match(after)):
        return None
    if written == "I" and label.lower() == "no." and not re.match(r"\Z|[,;:.)]", after):
        return None
    if re.match(r"\.\s?[A-Z]\.", after):
        return None
    return name_cardinal(value)


def _say_next_numbered(match: re.Match[str]) -> str | None:
    """The second and later ones of a list: Books I, II and III; Acts I-III."""
    value = read_roman(match["x"])
    before = text_before(match, 60)
    if value is None or value > 400 or not _is_listed(before):
        return None
    if match["x"] == "I" and re.match(rf"\s{_VERBS}", text_after(match)):
        return None
    return name_cardinal(value)


_LABELS = frozenset(
    _NUMBERED.replace("\\", "").lower().replace("world war|", "").replace("super bowl|", "bowl|").split("|")
)
_SMALL_LABELS = frozenset(
    f"{word}{ending}"
    for word in (
        "chapter book part act scene volume page section canto stanza lesson letter article figure plate verse"
    ).split()
    for ending in ("", "s")
) | frozenset("chap. ch. bk. vol. vols. p. pp. fig. figs. sc. pt.".split())
_I_GOES_ON = re.compile(
    r"\Z|[.,:;!?)\]\"—–-]|\s(?:of|and|or|to|in|on|by|at|with|begins|opens|ends|deals|is|was)\b|\s[A-Z\"'(—–]"
)
_JOINTS = frozenset(("and", "or", "to"))


def _is_listed(before: str) -> bool:
    """Whether a label and numerals lead up to here: Books I, II and"""
    for word in reversed(re.findall(r"[A-Za-z]+\.?", before)):
        if word in _JOINTS or read_roman(word):
            continue
        return word.lower() in _LABELS or word.lower() in _SMALL_LABELS
    return False


_REIGNED = (
    r"\s(?:was (?:be|born|crown|execut|king|queen|pope|emperor|murder|assassinat|depos|restor|succeed|buri|marri)|"
    r"(?:died|reigned|ruled|abdicated|ascended|succeeded|became (?:king|queen|pope|emperor))\b)"
)
"""What is said of a king rather than by the one who speaks, where a sentence begins with his name."""


def _say_regnal(match: re.Match[str]) -> str | None:
    """Henry VIII, Louis XIV's; a name nobody reigned under too, if the numeral can't be a word (Hamilton III)."""
    name, written = match["name"], match["x"].rstrip(".")
    value = read_roman(written)
    after, before = text_after(match), text_before(match)
    if value is None or value > 40 or name.lower() in _NOT_A_NAME:
        return None
    if len(written) == 1:
        is_royal = re.fullmatch(_ROYAL, name, re.I) is not None
        is_ruler = re.search(rf"\b(?:{_RULERS})\s(?:[A-Z]\w+\s)?[\w'-]+\s\Z", before) is not None
        if not is_ruler and re.match(rf"\.\s(?!{STARTER})[A-Z]|\.[A-Z]", after):
            return None
        if written == "I":
            begins = re.fullmatch(r"(?:.*[.!?]['\")]*\s+)?['\"(]*", before[: -len(name) - 1]) is not None
            if is_royal and begins and re.match(_REIGNED, after):
                return f"the {name_ordinal(value)}"
            if not (is_ruler or is_royal) or (re.match(rf"\s{_VERBS}", after) and not is_ruler):
                return None
            is_named = is_ruler or re.search(
                r"\b(?:of|under|by|from|to|with|and|or|that|when|[Aa]gainst|after|before)\s[\w'-]+\s\Z", before
            )
            if not before[: -len(name) - 1].strip("\"'([ ") and not after.strip(".\"')] "):
                return f"the {name_ordinal(value)}"
            if re.match(r"\sand\s[IVX]+\b", after):
                return f"the {name_ordinal(value)}"
            if not is_named or not re.match(
                r"'s\b|[,.;:)!?\"—–-]|\Z|\s(?:of|and|or|in|to|from|as|at|by|on|was|had|is|who)\b", after
            ):
                return None
            return f"the {name_ordinal(value)}"
        if written not in "VX" or not (is_royal or is_ruler):
            return None
        if name == "Malcolm" or (written == "X" and name in ("Malcolm", "Mary", "Robert")):
            return None
        return f"the {name_ordinal(value)}"
    if name.isupper() and len(name) < 3:
        return None
    return f"the {name_ordinal(value)}"


def _say_roman_ordinal(match: re.Match[str]) -> str | None:
    """XIXth; Henry VIIIth is Henry the eighth."""
    value = read_roman(match[1])
    if not value or (len(match[1]) == 1 and match[0] not in ("Xth", "Vth", "Ist", "Lth", "Cth")):
        return None
    before = word_before(match)
    is_name = before[:1].isupper() and before.lower() not in ("the", "and", "a", "an", "of", "in", "on")
    return ("the " if is_name else "") + name_ordinal(value)


def _say_the(match: re.Match[str]) -> str | None:
    value = read_roman(match["x"])
    return name_ordinal(value) if value else None


def _say_unicode(match: re.Match[str]) -> str | None:
    value = read_roman(_plain(match[0]))
    if value is None:
        return None
    before = text_before(match)
    if re.search(rf"\b(?:{_ROYAL})\s\Z", before):
        return f"the {name_ordinal(value)}"
    return name_cardinal(value)


def _say_page(match: re.Match[str]) -> str | None:
    value = read_roman(match["x"])
    return name_cardinal(value) if value and match["x"] not in _SINGLE_LETTERS else None


def _say_year(match: re.Match[str]) -> str | None:
    value = read_roman(match["x"])
    return name_year(value) if value and 1000 < value < 2100 else None


def _say_lone(match: re.Match[str]) -> str | None:
    """A numeral of small value without a word that says so: IV is a drip after "an", XX and XXX are no numbers."""
    written = match["x"]
    value = read_roman(written)
    if value is None or value > 89 or (len(set(written)) == 1 and written[0] != "I"):
        return None
    if written == "IV" and (
        word_before(match).lower() in ("an", "by", "via", "the")
        or re.match(r"[ -](?:drip|line|bag|pole|fluid|drug|antibiotic|tube|needle|stand)", text_after(match))
    ):
        return None
    if written in ("LI", "XL"):
        return None
    return name_cardinal(value)


def _say_heading(match: re.Match[str]) -> str | None:
    """A heading that is a numeral, or begins with one: "XIV.", "II. The Sea". Chapters don't reach 200."""
    value = read_roman(match["x"])
    if value is None or value >= 200:
        return None
    after = text_after(match)
    if len(match["x"]) == 1 and not re.match(r"\.?\s*\Z|[.:)—–]|\s[—–]", after):
        return None
    said = name_cardinal(value)
    return said[:1].upper() + said[1:]


def _say_whole(match: re.Match[str]) -> str | None:
    """A text that is nothing but a numeral."""
    value = read_roman(match["x"])
    is_word = match["x"] == "LI" or "C" in match["x"]
    return name_cardinal(value) if value and not is_word else None


_CAPITALS = "IVXLCDM"
_SMALL = "ivxlc"
_U = "Ⅰ-ↈⅰ-ⅿ"

HEADING_RULES = (
    make_rule(
        "roman numeral",
        rf"\A[\"'(\[]*(?P<x>{_ROMAN})(?=\.?\s*\Z|\.\s|[:)\]—–]|\s[—–A-Z\"'(-])(?!\.\s?[A-Z]\.)",
        _say_heading,
        _CAPITALS,
    ),
)

RULES = (
    make_rule("roman numeral", f"[{_U}]++", _say_unicode, "".join(map(chr, range(0x2160, 0x2189)))),
    make_rule("roman numeral", r"\A[\"'(\[]*(?P<x>[IVXLC]{2,})(?=[.\"')\]]*\Z)", _say_whole, _CAPITALS),
    make_rule("roman ordinal", r"(?<![\w'])([IVXLCDM]{1,12}+)(?:th|st|nd|rd|d)\b", _say_roman_ordinal, _CAPITALS),
    make_rule(
        "roman ordinal",
        r"(?<![\w'])(?P<x>[IVXLC]{1,9}+)(?= (?i:centur|dynast|olympiad|corps|legion|army corps))",
        _say_the,
        _CAPITALS,
    ),
    make_rule(
        "roman numeral",
        r"(?<=[A-Za-z.][ -])(?P<x>[IVXLC]{1,9}+)(?![\w])(?!'(?!s\b)\w)(?!-[a-z])",
        _say_numbered,
        _CAPITALS,
    ),
    make_rule("roman numeral", r"(?<=[a-zA-Z.] )(?P<x>[ivxl]{1,9}+)(?![\w'])", _say_small_numbered, _SMALL),
    make_rule(
        "roman numeral",
        r"(?<=[ivxlcIVXLC])(?:, | ?[-–—] ?|,? and |,? or | to |,? & )(?P<x>[IVXLC]{1,9}+|[ivxl]{1,9}+)(?![\w'])",
        _say_next_numbered,
        _CAPITALS + _SMALL,
    ),
    make_rule(
        "range",
        r"(?<=[ivxlcIVXLC])(?P<x> ?[-–—] ?)(?=[IVXLCivxl]{1,9}+(?!\w))",
        lambda m: " to " if _is_listed(text_before(m)) else None,
        ("-–—", _CAPITALS + _SMALL),
    ),
    make_rule("roman numeral", r"(?<=\()(?P<x>i{1,3}|iv|vi{0,3}|ix|xi{1,3})(?=\))", _say_page, "iv"),
    make_rule(
        "roman numeral",
        r"\b(?<!\w')(?P<x>WW(?:I{1,2}|1|2))(?!\w)",
        lambda m: "World War " + ("One" if m["x"] in ("WWI", "WW1") else "Two"),
        "W",
    ),
    make_rule(
        "roman ordinal",
        r"\b(?P<name>[A-ZÀ-Þ][\w'-]{1,30}+) (?P<x>[IVX]{1,7}+(?:\.(?= [a-z]))?)(?![\w-])(?!'(?!s\b)\w)",
        _say_regnal,
        "IVX",
    ),
    make_rule("roman ordinal", r"\b(?:the|The|THE) (?P<x>[IVX]{2,7}+)(?![\w'-])(?= [a-z])", _say_the, "IVX"),
    make_rule("year", r"\b(?<!')(?P<x>M[CDXLVIM]{3,})\b", _say_year, "M"),
    make_rule(
        "roman numeral", r"(?<![\w'.&/-])(?P<x>[IVX]{2,7}+)(?![\w&/-])(?!'(?!s\b)\w)(?!\.[A-Z])", _say_lone, "IVX"
    ),
)
