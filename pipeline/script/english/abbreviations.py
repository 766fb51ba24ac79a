"""Abbreviations: titles, streets and saints, Latin, months without a date, references, initials of degrees."""

from __future__ import annotations

import re
from collections.abc import Callable

from pipeline.script.english.context import STARTER, keep_stop, like_case, says_stop
from pipeline.script.rules import Rule, make_rule, text_after, text_before, with_stops, word_before

# fmt: off
# Before a name, with a stop or, the British way, without.
_TITLES = {
    "Mr": "Mister", "Mrs": "Missus", "Ms": "Ms", "Messrs": "Messieurs", "MM": "Messieurs", "Mme": "Madame",
    "Mmes": "Mesdames",
    "Mlle": "Mademoiselle", "Mlles": "Mesdemoiselles", "Dr": "Doctor", "Drs": "Doctors", "Prof": "Professor",
    "Profs": "Professors", "Revd": "Reverend",
}
# Before a name, with a stop.
_RANKS = {
    "Rev": "Reverend", "Hon": "Honourable", "Capt": "Captain", "Cap": "Captain", "Lt": "Lieutenant",
    "Lieut": "Lieutenant",
    "Sgt": "Sergeant", "Sergt": "Sergeant", "Serg": "Sergeant", "Col": "Colonel", "Gen": "General", "Genl": "General",
    "Maj": "Major", "Cpl": "Corporal", "Corp": "Corporal", "Pvt": "Private", "Pte": "Private", "Cmdr": "Commander",
    "Cdr": "Commander", "Comdr": "Commander", "Adm": "Admiral", "Brig": "Brigadier", "Gov": "Governor",
    "Sen": "Senator",
    "Rep": "Representative", "Pres": "President", "Supt": "Superintendent", "Insp": "Inspector", "Det": "Detective",
    "Msgr": "Monsignor", "Mgr": "Monsignor", "Fr": "Father", "Bp": "Bishop", "Abp": "Archbishop", "Bro": "Brother",
    "Rt": "Right", "Ven": "Venerable", "Amb": "Ambassador", "Atty": "Attorney", "Sec": "Secretary", "Ens": "Ensign",
    "Ft": "Fort", "Mt": "Mount", "Mts": "Mountains", "Sts": "Saints", "Ste": "Sainte", "Hon'ble": "Honourable",
    "Wm": "William", "Chas": "Charles", "Geo": "George", "Jas": "James", "Jno": "John", "Thos": "Thomas",
    "Robt": "Robert",
    "Edw": "Edward", "Benj": "Benjamin", "Saml": "Samuel", "Jos": "Joseph", "Danl": "Daniel", "Alexr": "Alexander",
    "Dept": "Department", "Univ": "University", "Assn": "Association", "Pt": "Point",
}
# After a name; a sentence may end with them.
_AFTER_NAMES = {
    "Esq": "Esquire", "Jr": "Junior", "Jun": "Junior", "Sr": "Senior", "Inc": "Incorporated", "Ltd": "Limited",
    "Bros": "Brothers",
    "Corp": "Corporation", "Co": "Company", "Ave": "Avenue", "Av": "Avenue", "Rd": "Road", "Blvd": "Boulevard",
    "Sq": "Square", "Ln": "Lane",
    "Hwy": "Highway", "Expy": "Expressway", "Pkwy": "Parkway", "Terr": "Terrace", "Ct": "Court", "Pl": "Place",
    "Bldg": "Building", "Mts": "Mountains",
}
# Anywhere, in the case they stand in.
_WORDS = {
    "etc": "et cetera", "viz": "namely", "cf": "compare", "ibid": "ibidem", "approx": "approximately",
    "dept": "department",
    "govt": "government", "gov't": "government", "esp": "especially", "incl": "including", "misc": "miscellaneous",
    "ult": "ultimo", "prox": "proximo", "tho": "though", "altho": "although",
    "vs": "versus", "op. cit": "opere citato", "loc. cit": "loco citato", "et al": "et al", "et seq": "et sequens",
    "illus": "illustrated", "bldg": "building",
}
_LEADING = frozenset(("viz", "cf", "vs", "approx", "esp", "incl"))
"""Of these, those after which a sentence always goes on."""
# Only before a number: No. 10, vol. ii, p. 12.
_REFERENCES = {
    "no": "number", "nos": "numbers", "vol": "volume", "vols": "volumes", "p": "page", "pp": "pages", "pg": "page",
    "pgs": "pages", "ch": "chapter", "chap": "chapter", "chaps": "chapters", "chs": "chapters", "fig": "figure",
    "figs": "figures",
    "sec": "section", "secs": "sections", "sect": "section", "art": "article", "arts": "articles",
    "par": "paragraph", "para": "paragraph",
    "bk": "book", "bks": "books", "pt": "part", "pts": "parts", "op": "opus", "pl": "plate", "sc": "scene",
    "apt": "apartment",
    "ext": "extension", "app": "appendix", "ver": "verse", "vv": "verses", "ll": "lines", "n": "note", "nn": "notes",
    "c": "circa", "ca": "circa", "b": "born", "d": "died", "fl": "flourished", "r": "reigned",
}
# fmt: on
_DATED = ("c", "ca", "b", "d", "fl", "r")
_NUMBER_AFTER = r"(?=\s?[0-9]|\s[ivxlcIVXLC]+\b)"
_LATIN = (
    ("for example", r"\b[Ee]\. ?[Gg]\.,?|\beg\.(?=[ ,])"),
    ("that is", r"\b[Ii]\. ?[Ee]\.,?|\bie\.(?=[ ,])"),
    ("nota bene", r"(?<!, )\bN\. ?B\.(?!\w)"),
    ("also known as", r"\ba\. ?k\. ?a\.(?!\w)"),
)


def _alternatives(table: dict[str, str]) -> str:
    return "|".join(re.escape(word).replace(r"\ ", " ") for word in sorted(table, key=len, reverse=True))


def _look_up(written: str, table: dict[str, str]) -> str:
    """The words for an abbreviation, in capitals or not."""
    word = written.rstrip(".")
    said = table.get(word) or table.get(word.capitalize()) or table.get(word.lower()) or written
    return said


def _say_title(match: re.Match[str]) -> str:
    return _look_up(match["x"], _TITLES)


def _say_rank(match: re.Match[str]) -> str:
    return _look_up(match["x"], _RANKS)


def _say_doctor(match: re.Match[str]) -> str | None:
    """King Dr. is a street, Dr. King a person; so is "the Dr."."""
    before, after = text_before(match), text_after(match)
    if _STREET_NAME_BEFORE.search(before) and not re.match(rf"\s(?!{STARTER})[A-Z]", after):
        return "Drive" + keep_stop(match, before_any_capital=False)
    if re.search(r"\b(?:[0-9]+|[Tt]he) (?:[NSEW]\.? )?[A-Z]\w+ \Z", before) and re.match(rf"\s{STARTER}", after):
        return "Drive" + keep_stop(match, before_any_capital=False)
    return "Doctor" if re.match(r"\s\S|[,;'-]", after) else "Doctor" + keep_stop(match)


def _say_saint(match: re.Match[str]) -> str | None:
    """St. is a saint before a name, a street after one."""
    before, after = text_before(match), text_after(match)
    is_street = word_before(match)[1:].replace("'", "").isalnum() and _STREET_NAME_BEFORE.search(before)
    is_before_name = re.match(rf"\s(?!{STARTER})[A-ZÀ-Þ]|-[A-Z]", after)
    if is_street and not is_before_name:
        return "Street" + (keep_stop(match, before_any_capital=False) if match["x"].endswith(".") else "")
    if is_street and _ON_A_STREET.search(before) and re.match(r"\s[A-Z]", after):
        return "Street" + ("." if _AFTER_PLACE.search(before) else "")
    return "Saint" if re.match(r"\s[A-ZÀ-Þ]|-[A-Z]", after) else None


_AFTER_PLACE = re.compile(r"\b(?:off|down|along|across|into|up) (?:[A-Z]\w+ ){1,2}\Z")
_ON_A_STREET = re.compile(rf"\b[0-9]+(?:[A-D])? (?:[A-Z]\w+ ){{1,2}}\Z|{_AFTER_PLACE.pattern}")
"""22 Dean St. London; off Dean St. Turn left."""
_STREET_NAME_BEFORE = re.compile(
    r"(?<![.!?] )(?<![.!?]['\"] )\b(?!(?:The|In|At|On|To|Of|By|And|From|Near|With|For|Under|Over|Our|Old|New|Via|"
    r"But|As|If|When)\b)(?:[A-Z][a-z']{2,}|[0-9]+(?:st|nd|rd|th|d)) \Z"
)


def _say_after_name(match: re.Match[str]) -> str | None:
    is_persons = match["x"].lower().rstrip(".") in ("jr", "sr", "esq")  # no name of a place or firm goes on
    stop = keep_stop(match, before_any_capital=is_persons) if match["x"].endswith(".") else ""
    return _look_up(match["x"], _AFTER_NAMES) + stop


def _say_word(match: re.Match[str]) -> str:
    stop = "" if match["x"].lower().rstrip(".") in _LEADING else keep_stop(match)
    return like_case(match["x"], _look_up(match["x"].lower(), _WORDS)) + stop


def _say_reference(match: re.Match[str]) -> str | None:
    """No. 10; but "No. 10 men came" begins with a sentence."""
    word = match["x"].rstrip(".")
    after, before = text_after(match), text_before(match)
    if re.match(r"\s?[Ii]\s(?![—–])", after) or (word.isupper() and len(word) < 3 and word not in ("NO", "CH")):
        return None
    if (
        word in ("No", "no")
        and re.search(r"(?:\A|[\"'.!?—] ?)\Z", before)
        and re.match(
            r"\s[0-9,]+ (?!(?:was|is|has|had|of|in|on|and|or|to|at|as|his|its|the|does|looks|"
            r"stands)\b)[a-z]*(?:s|men|people)\b",
            after,
        )
    ):
        return None
    if (
        word in ("c", "ca", "n", "ch", "art", "sec", "par")
        and not word[0].islower()
        and word not in ("Ch", "Art", "Sec", "Par")
    ):
        return None
    if word.lower() in _DATED and not re.match(r"\s?[0-9]{3,4}(?![0-9,])|\s?[0-9]+ [AB]\.?", after):
        return None
    if word.lower() in (
        "sec",
        "pt",
        "art",
        "par",
        "op",
        "app",
        "ver",
        "n",
        "ll",
        "pts",
        "pl",
        "ext",
        "secs",
        "c",
        "ca",
    ) and not re.match(r"\s?[0-9IVXivx]", after):
        return None
    return like_case(word, _REFERENCES[word.lower()]) + ("" if after[:1] == " " else " ")


def _say_versus(match: re.Match[str]) -> str:
    return "versus"


def _say_monsieur(match: re.Match[str]) -> str | None:
    """M. Defarge; but after a name the M. is an initial (Raymond M. Alden)."""
    before = word_before(match)
    is_name = before[:1].isupper() and not before.endswith(".") and not re.fullmatch(STARTER, before)
    return None if is_name else "Monsieur"


def _say_latin(said: str) -> Callable[[re.Match[str]], str]:
    def say(match: re.Match[str]) -> str:
        comma = "," if match[0].endswith(",") else ""
        return like_case(match[0], said) + comma

    return say


def _say_cent(match: re.Match[str]) -> str:
    return "per cent" + keep_stop(match)


_BOOK_SIZES = {"4to": "quarto", "8vo": "octavo", "12mo": "duodecimo", "16mo": "sextodecimo"}


def _rules() -> tuple[Rule, ...]:
    dotted_titles = "|".join(sorted((*_TITLES, *(t.upper() for t in _TITLES)), key=len, reverse=True))
    ranks = "|".join(
        sorted(
            (*map(re.escape, _RANKS), *(t.upper() for t in _RANKS if t not in ("Cap", "Sec", "Corp"))),
            key=len,
            reverse=True,
        )
    )
    after_names = "|".join(sorted((*_AFTER_NAMES, *map(str.upper, _AFTER_NAMES)), key=len, reverse=True))
    return (
        *(
            make_rule("latin", pattern, _say_latin(said), with_stops(["g", "e", "eg", "ie", "b", "a"]))
            for said, pattern in _LATIN
        ),
        make_rule("street or saint", r"\b(?<![\w'])(?P<x>(?:St|ST)\b\.?)(?=[\s,;:!?)\"'-]|\.?\Z)", _say_saint, "S"),
        make_rule("title", r"\b(?<![\w'])(?P<x>(?:Dr|DR)\.)", _say_doctor, with_stops(["dr"])),
        make_rule(
            "title",
            rf"\b(?<![\w'])(?P<x>(?:{dotted_titles})\.)(?= ?[\w\"'(*—-]|,| ?\Z|\.\.\.)",
            _say_title,
            with_stops(_TITLES),
        ),
        make_rule(
            "title",
            rf"\b(?<![\w'])(?P<x>(?:{'|'.join(sorted(_TITLES, key=len, reverse=True))}))(?= [A-ZÀ-Þ])",
            _say_title,
            "MDPR",
        ),
        make_rule("title", r"\b(?<![\w'])(?P<x>(?:Mr|Mrs))(?=(?: and | & |/)(?:Mrs|Miss|Mr|Dr)\b)", _say_title, "M"),
        make_rule("rank", r"(?<=\bthe )(?P<x>(?:Rev|Hon)\.)", _say_rank, with_stops(["rev", "hon"])),
        make_rule(
            "rank",
            rf"\b(?<![\w'])(?<!\d )(?P<x>(?:{ranks})\.)(?= \"?[A-ZÀ-Þ]|-(?:Gen|Col|Cmdr|Gov|Maj)\b|-[A-Z])",
            lambda m: (
                None
                if re.match(rf"\s{STARTER}", text_after(m))
                and not re.match(r"\sOf\b", text_after(m))
                and m["x"] in ("Sec.", "Pt.", "Det.", "Rep.", "Cap.", "Ven.", "Corp.", "Bro.")
                else _say_rank(m)
            ),
            with_stops(_RANKS),
        ),
        make_rule(
            "rank",
            r"(?<=-)(?P<x>(?:Gen|Col|Maj|Gov|Cmdr)\.)(?= [A-Z])",
            _say_rank,
            with_stops(["gen", "col", "maj", "gov", "cmdr"]),
        ),
        make_rule(
            "company",
            r"(?<=[&d] )(?P<x>Co\.)",
            lambda m: "Company" + keep_stop(m, before_any_capital=False),
            with_stops(["co"]),
        ),
        make_rule(
            "county", r"(?<![A-Z]\w )(?<![\w.&] )(?<![\w']) ?(?P<x>\bCo\.)(?= [A-Z])", "County", with_stops(["co"])
        ),
        make_rule(
            "company",
            r"(?<=[a-z] )(?P<x>Co\.)(?= [A-Z])",
            lambda m: (
                "County"
                if re.search(r"\b(?:in|of|from|to|near|at)\s\Z", text_before(m))
                else "Company" + keep_stop(m, before_any_capital=False)
            ),
            with_stops(["co"]),
        ),
        make_rule(
            "after a name",
            rf"(?<=[\w.,] )(?<![.!?] )(?P<x>(?:{after_names})\.)",
            lambda m: _say_after_name(m) if re.search(r"[A-Z0-9][\w'.]*,?\s\Z", text_before(m)) else None,
            with_stops(_AFTER_NAMES),
        ),
        make_rule(
            "after a name",
            r"(?P<x>\b(?:Jr|Sr|Ltd|Inc|Esq))(?=[,;:)]| (?:and|of|was|had|said)\b|\Z)",
            lambda m: _look_up(m["x"], _AFTER_NAMES) if re.search(r"[A-Z][\w'.]*,?\s\Z", text_before(m)) else None,
            "JSLIE",
        ),
        make_rule(
            "after a name",
            r"\b[A-Z]\w+ (?P<x>(?:Ave|Blvd|Rd|Hwy|Expy|Pkwy|hwy))(?=[,;:)]|\Z)",
            lambda m: _AFTER_NAMES[m["x"].capitalize()],
            "ABRHEPh",
        ),
        make_rule(
            "reference",
            rf"(?<![\w'.&-])(?P<x>(?i:{_alternatives(_REFERENCES)})\.){_NUMBER_AFTER}",
            _say_reference,
            with_stops(_REFERENCES),
        ),
        make_rule(
            "reference",
            r"(?<=[0-9] )(?P<x>vols?\.)(?!\w)",
            lambda m: ("volumes" if m["x"] == "vols." else "volume") + keep_stop(m),
            with_stops(["vol", "vols"]),
        ),
        make_rule("book size", r"(?<!\w)(?P<x>4to|8vo|12mo|16mo)(?!\w)", lambda m: _BOOK_SIZES[m["x"]], "0123456789"),
        make_rule("number", r"(?<!\w)(?:№|N[°º]) ?(?=[0-9])", "number ", "№N"),
        make_rule("versus", r"(?<=[A-Za-z.'] )(?P<x>v\.)(?= (?:the |[A-Z]))", _say_versus, with_stops(["v"])),
        make_rule("versus", r"(?<![\w.'])(?P<x>vs\.?)(?= )", _say_versus, "v"),
        make_rule("instant", r"(?<=[0-9dhst] )(?P<x>inst\.)", says_stop("instant"), with_stops(["inst"])),
        make_rule("per cent", r"\bper cent\.(?=\W)", _say_cent, with_stops(["cent"])),
        make_rule("per annum", r"\bper ann\.", says_stop("per annum"), with_stops(["ann"])),
        make_rule(
            "manuscript",
            r"(?<![\w'])(?P<x>MSS?\.)(?!\w)",
            lambda m: ("manuscripts" if m["x"] == "MSS." else "manuscript") + keep_stop(m, before_any_capital=False),
            with_stops(["ms", "mss"]),
        ),
        make_rule(
            "word",
            rf"(?<![\w'.&-])(?P<x>(?i:{_alternatives(_WORDS)})\.)(?!\w)",
            lambda m: None if m["x"] in ("Tho.", "Ult.") else _say_word(m),
            with_stops(word.split()[-1].replace("gov't", "t") for word in _WORDS),
        ),
        make_rule("word", r"(?<![\w'.&-])(?P<x>etc)(?![\w.'])", "et cetera", "e"),
        make_rule(
            "monsieur",
            rf"(?<![\w.'&-])(?<![A-Z][.] )(?P<x>M\.)(?= (?!{STARTER})(?:de |le |la |du |d')?[A-ZÀ-Þ][a-zà-ÿ'])",
            _say_monsieur,
            with_stops(["m"]),
        ),
        make_rule("months of letters", r"(?<=[0-9]) ?(?P<x>P\.S\.)", "P S", "P"),
    )


RULES = _rules()
