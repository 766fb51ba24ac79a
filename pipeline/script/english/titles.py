"""What stands abbreviated before a name: Mr, Capt., Mt., Wm.; and M. for Monsieur."""

from __future__ import annotations

import re

from pipeline.script.english.context import STARTER, with_capitals
from pipeline.script.rules import any_of, make_rule, text_after, with_stops, word_before

# fmt: off
# With a stop or, the British way, without.
_TITLES = {
    "Dr": "Doctor", "Drs": "Doctors", "MM": "Messieurs", "Messrs": "Messieurs", "Mlle": "Mademoiselle",
    "Mlles": "Mesdemoiselles", "Mme": "Madame", "Mmes": "Mesdames", "Mr": "Mister", "Mrs": "Missus", "Ms": "Ms",
    "Prof": "Professor", "Profs": "Professors", "Revd": "Reverend",
}
# With a stop.
_RANKS = {
    "Abp": "Archbishop", "Adm": "Admiral", "Amb": "Ambassador", "Atty": "Attorney", "Bp": "Bishop",
    "Brig": "Brigadier", "Bro": "Brother", "Cap": "Captain", "Capt": "Captain", "Cdr": "Commander",
    "Cmdr": "Commander", "Col": "Colonel", "Comdr": "Commander", "Corp": "Corporal", "Cpl": "Corporal",
    "Det": "Detective", "Ens": "Ensign", "Fr": "Father", "Gen": "General", "Genl": "General", "Gov": "Governor",
    "Hon": "Honourable", "Hon'ble": "Honourable", "Insp": "Inspector", "Lieut": "Lieutenant", "Lt": "Lieutenant",
    "Maj": "Major", "Mgr": "Monsignor", "Msgr": "Monsignor", "Pres": "President", "Pte": "Private", "Pvt": "Private",
    "Rep": "Representative", "Rev": "Reverend", "Rt": "Right", "Sec": "Secretary", "Sen": "Senator",
    "Serg": "Sergeant", "Sergt": "Sergeant", "Sgt": "Sergeant", "Supt": "Superintendent", "Ven": "Venerable",
}
_PLACES = {
    "Assn": "Association", "Dept": "Department", "Ft": "Fort", "Mt": "Mount", "Mts": "Mountains", "Pt": "Point",
    "Ste": "Sainte", "Sts": "Saints", "Univ": "University",
}
_FIRST_NAMES = {
    "Alexr": "Alexander", "Benj": "Benjamin", "Chas": "Charles", "Danl": "Daniel", "Edw": "Edward", "Geo": "George",
    "Jas": "James", "Jno": "John", "Jos": "Joseph", "Robt": "Robert", "Saml": "Samuel", "Thos": "Thomas",
    "Wm": "William",
}
# fmt: on
_ALSO_WORDS = frozenset("Bro. Cap. Corp. Det. Pt. Rep. Sec. Ven.".split())
"""Those that may stand without a name before a new sentence; the others never do."""
_NEVER_CAPITALS = frozenset("CAP CORP SEC".split())

_SAID_OF_TITLES = with_capitals(_TITLES)
_BEFORE_NAMES = _RANKS | _PLACES | _FIRST_NAMES
_SAID_BEFORE_NAMES = {word: said for word, said in with_capitals(_BEFORE_NAMES).items() if word not in _NEVER_CAPITALS}


def _say_title(match: re.Match[str]) -> str:
    return _SAID_OF_TITLES[match["x"].rstrip(".")]


def _say_rank(match: re.Match[str]) -> str:
    return _SAID_BEFORE_NAMES[match["x"].rstrip(".")]


def _say_before_name(match: re.Match[str]) -> str | None:
    """Sec. Hay; but not before a word that begins sentences."""
    begins_sentence = re.match(rf"\s(?!Of\b){STARTER}", text_after(match))
    return None if begins_sentence and match["x"] in _ALSO_WORDS else _say_rank(match)


def _say_monsieur(match: re.Match[str]) -> str | None:
    """M. Defarge; but after a name the M. is an initial (Raymond M. Alden)."""
    before = word_before(match)
    is_name = before[:1].isupper() and not before.endswith(".") and not re.fullmatch(STARTER, before)
    has_first_name = re.match(r" [A-Z][a-z]+ [A-Z][a-z]", text_after(match))  # M. Scott Peck
    return None if is_name or has_first_name else "Monsieur"


RULES = (
    # Mr. Jones, "Mr." at the end of a text
    make_rule(
        "title",
        rf"\b(?<![\w'])(?P<x>(?:{any_of(_SAID_OF_TITLES)})\.)(?= ?[\w\"'(*—-]|,| ?\Z|\.\.\.)",
        _say_title,
        with_stops(_TITLES),
    ),
    # Mr Jones
    make_rule("title", rf"\b(?<![\w'])(?P<x>(?:{any_of(_TITLES)}))(?= [A-ZÀ-Þ])", _say_title, "MDPR"),
    # Mr and Mrs Jones
    make_rule("title", r"\b(?<![\w'])(?P<x>(?:Mr|Mrs))(?=(?: and | & |/)(?:Mrs|Miss|Mr|Dr)\b)", _say_title, "M"),
    # the Rev. and the Hon. gentleman
    make_rule("rank", r"(?<=\bthe )(?P<x>(?:Rev|Hon)\.)", _say_rank, with_stops(["rev", "hon"])),
    # Capt. Ahab, Lt.-Col., Mt. Etna, Wm. Blake
    make_rule(
        "rank",
        rf"\b(?<![\w'])(?<!\d )(?P<x>(?:{any_of(_SAID_BEFORE_NAMES)})\.)"
        r"(?= \"?[A-ZÀ-Þ]|-(?:Gen|Col|Cmdr|Gov|Maj)\b|-[A-Z])",
        _say_before_name,
        with_stops(_BEFORE_NAMES),
    ),
    # Lieutenant-Col. Smith
    make_rule(
        "rank",
        r"(?<=-)(?P<x>(?:Gen|Col|Maj|Gov|Cmdr)\.)(?= [A-Z])",
        _say_rank,
        with_stops(["gen", "col", "maj", "gov", "cmdr"]),
    ),
    # M. Defarge, M. d'Artagnan
    make_rule(
        "monsieur",
        rf"(?<![\w.'&-])(?<![A-Z][.] )(?P<x>M\.)(?= (?!{STARTER})(?:de |le |la |du |d')?[A-ZÀ-Þ][a-zà-ÿ'])",
        _say_monsieur,
        with_stops(["m"]),
    ),
)
