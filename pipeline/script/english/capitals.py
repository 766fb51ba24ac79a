"""Letters said one by one, and words in capitals said as words."""

from __future__ import annotations

import re

from pipeline.script.english.calendar import FULL_MONTHS, WEEKDAYS
from pipeline.script.english.context import STARTER, keep_stop, spell
from pipeline.script.rules import make_rule, text_after, text_before, with_stops, word_after, word_before

# fmt: off
# Said as a word.
_AS_WORDS = frozenset(
    "NASA NATO UNESCO UNICEF OPEC AIDS AWOL SWAT SCUBA LASER RADAR SONAR NAFTA FIFA UEFA IKEA FEMA OSHA DARPA NORAD "
    "UNHCR INTERPOL GESTAPO PETA MENSA HAMAS ISIS ASCII NAAFI ANZAC WASP NIMBY YOLO SIM PIN RAM ROM LAN WAN JPEG "
    "GIF BASIC "
    "COBOL FORTRAN LORAN TASER MASH PLO-NOT QANTAS FIAT SAAB OK ASEAN EFTA GATT SALT START COVID SARS MERS DOS "
    "BIOS LED-NOT "
    "MOMA GULAG CHEKA COMINTERN SHAEF SEATO RICO SETI SOWETO TARDIS".split()
)
# Said letter by letter though they could be words or names.
_AS_LETTERS = frozenset(
    "FBI CIA BBC CNN NBC ABC CBS ITV HBO USA UK EU UN UAE USSR GDR FRG DDR NSA DEA IRS ATF EPA FDA FCC SEC FDIC "
    "DHS TSA ICE-NOT "
    "DOJ DOD NYPD LAPD SUV UFO IOU CEO CFO CTO COO VIP MVP GPS ATM AC DC AM-NOT PM TV DVD CD CDS VCR DJ MC-NOT "
    "PC PCS IQ ID-NOT IDS "
    "ER-NOT ICU EMT EKG ECG MRI CAT-NOT DNA RNA HIV STD UTI ADHD OCD PTSD IVF AA RSVP ASAP FYI DIY BBQ BYOB ETA "
    "ETD AKA "
    "AWACS-NOT JFK LBJ FDR RAF SAS SS RN RAAF USAF USMC USN HMS USS POW MIA KIA IRA ANC PLO KGB GRU MI NKVD OSS SOE "
    "YMCA YWCA NAACP ACLU AARP UCLA USC NYU MIT LSE PHD MBA BA MA-NOT MD-NOT GP MP MPS QC KC JP HQ HR PR-NOT "
    "IT-NOT AI VR AR-NOT "
    "ISBN ISSN URL HTML HTTP HTTPS CSS XML PDF USB CPU GPU OS API SQL LCD LED LOL OMG WTF IMO GOP NRA NBA NFL "
    "NHL MLB NCAA ESPN "
    "GMT UTC EST EDT PST PDT CST BST AD BC BCE CE RPG TNT DDT PVC CFC IMF WTO WHO-NOT NHS IBM GE GM-NOT BMW AT&T "
    "UPS FAA "
    "CB CIO CPA CPR CCTV DMV EFL ESL GCSE GED IPO LP LLC MO-NOT OAP PTA RIP SAT-NOT SOS UV VC VD VHF UHF VE VJ "
    "WC XL XXL UAV FM NYC LA "
    "LSD PCP THC MDMA IV ID DA DI-NOT ETC-NOT AOL MSN UPI AP-NOT TLC TB HP BP IP ISP PO KO KKK SDP-NOT CID DCI "
    "DOA APB DUI DWI BMX UAW AFL CIO AK".split()
)
# Short words and names that aren't letters, in capitals or not; longer ones are words unless listed above.
_SHORT_WORDS = frozenset(
    "a i o ad ah al am an as at aw ax be bo by do ed eh em en er ex go ha he hi ho if in is it jo la lo ma me mr "
    "my no of oh on op or ow ox pa pi "
    "re sh si so st to uh um up us we ya ye yo ty vi "
    "ace act add ado ads age ago aha aid ail aim air ale all and ant any ape apt arc are ark arm art ash ask asp "
    "ass ate awe awl axe aye "
    "bad bag ban bar bat bay bed bee beg bet bid big bin bit boa bob bog boo bow box boy bra bud bug bum bun bus "
    "but buy bye "
    "cab cad cam can cap car cat caw cob cod cog con coo cop cot cow cox coy cry cub cud cue cup cur cut "
    "dab dad dam day den dew did die dig dim din dip doe dog don dot dry dub dud due dug dun duo dye ear eat ebb "
    "eel egg ego eke elf elk elm emu end "
    "eon era ere err eve ewe eye fad fan far fat fax fed fee few fey fib fig fin fir fit fix flu fly foe fog for "
    "fox fro fry fun fur gab gag gap gas gay "
    "gel gem get gig gin git gnu god got gum gun gut guy gym had hag ham has hat hay hem hen her hew hex hey hid "
    "him hip his hit hoe hog hop hot how hub hue hug huh hum hut "
    "ice icy ilk ill imp ink inn ion ire irk its ivy jab jam jar jaw jay jet jig job jog jot joy jug jut keg key "
    "kid kin kit lab lad lag lap law lax lay lea led leg let lid lie lip lit lob log lop lot low lug "
    "mad man map mar mat maw may men met mid mix mob mod mop mow mud mug mum nab nag nap nay net new nib nil nip "
    "nit nod nor not now nub nun nut oak oar oat odd ode off oft oil old one opt orb ore our out ova owe owl own "
    "pad pal pan par pat paw pay pea peg pen pep per pet pew pie pig pin pit ply pod poi pop pot pox pro pry pub "
    "pug pun pup pus put rag ram ran rap rat raw ray red rib rid rig rim rip rob rod roe rot row rub rue rug rum "
    "run rut rye "
    "sac sad sag sap sat saw sax say sea see set sew sex she shy sin sip sir sis sit six ski sky sly sob sod son "
    "sop sow soy spa spy sty sub sue sum sun tab tad tag tan tap tar tax tea ten the thy tic tie tin tip toe tom "
    "ton too top tot tow toy try tub tug tun two "
    "urn use van vat vet vex via vie vow wad wag wan war was wax way web wed wee wet who why wig win wit woe wok "
    "won woo wow yak yam yap yaw yea yen yes yet yew yon you zap zed zip zoo "
    "abe ada amy ann ava ben bob boz cal dan deb don dot eli eva eve fay gus guy hal ian ida ira ivy jan jay jed "
    "jim joe jon joy kay ken kim kit lee len leo les lew liz lou luc mac max may meg mel mia mo nan nat ned nel "
    "pam pat peg pip poe rae ray rex rob rod ron roy "
    "sal sam sid sue tad ted tim tom val van vic viv wes zoe una hmm mmm shh psst brr grr tsk pfft ugh zzz hrm "
    "mhm ooh aah pst hm mm ssh nth".split()
)
_CALENDAR = frozenset((*FULL_MONTHS.split("|"), *WEEKDAYS.values())) - {"May", "March"}
_SMALL_WORDS = frozenset((
    "a an and as at but by for from in into nor of off on or "
    "over so the to under up upon with yet"
).split())
# fmt: on
_VOWEL = re.compile("[AEIOUYÀ-ÖØ-Ý]")
_UNSAYABLE = re.compile(
    r"[^AEIOUYÀ-ÖØ-Ý]{5}|\A[^AEIOUYÀ-ÖØ-Ý]{4}|\A[BDFGJKLMNPQRTVWXZ](?=[BCDFGJKMPQTVXZ])(?![A-Z]*[AEIOU][A-Z]{2})"
)
_CAPS = r"[A-ZÀ-ÖØ-Þ]"
_SENTENCE_START = re.compile(r"(?:\A|[.!?:]['\")\]]*\s|[.!?]\s?['\"]|\s['\"]|\A['\"]|[—–]\s?)[\"'(\[]*\Z")
_US_BEFORE = re.compile(r"\b(?:the|The|THE|former|current|entire|continental|in the|non)[ -]\Z")


_COMPUTING = frozenset(
    "department support guy manager team worker consultant specialist professional industry staff people "
    "security".split()
)
_SENTENCE_END = re.compile(r"\.[\"')\]]*\s")


def _is_run(match: re.Match[str]) -> bool:
    """Whether a word in capitals stands next to another."""
    before, after = text_before(match, 30), text_after(match, 30)
    return bool(_CAPS_BEFORE.search(before) or _CAPS_AFTER.match(after))


_CAPS_BEFORE = re.compile(rf"(?<![\w.]){_CAPS}{{2,}}(?:'{_CAPS}+)?[\W_]{{1,4}}(?:[A-Z]\b\W{{1,3}})?\Z")
_CAPS_AFTER = re.compile(rf"[^\w.]{{1,4}}(?:[A-Z]\b\.?[^\w.]{{1,3}})?{_CAPS}{{2,}}(?![a-z])")


def _say_capitals(match: re.Match[str], in_heading: bool = False) -> str | None:
    """A word in capitals: its letters one by one if nobody says it as a word, else in lower or title case."""
    word = match["x"]
    if word in _AS_WORDS:
        return word
    is_run = _is_run(match) or in_heading
    if word == "US" and not is_run:
        is_country = _US_BEFORE.search(text_before(match)) or re.match(
            r"\s[A-Z][a-z]|'s\b|[ -](?:dollar|citizen|government|military|troops|forces)", text_after(match)
        )
        return ("US" if _SENTENCE_END.match(text_after(match)) else "U S") if is_country else "us"
    if word == "AM" and not is_run and word_before(match) != "I" and re.fullmatch("[a-z-]+", word_before(match)):
        return word if _SENTENCE_END.match(text_after(match)) else "A M"
    if not is_run and (
        (word == "IT" and word_after(match) in _COMPUTING) or (word == "WHO" and word_before(match).lower() == "the")
    ):
        return " ".join(word)
    if _is_spelled(word, is_run):
        return word if _SENTENCE_END.match(text_after(match)) else " ".join(word)
    return _say_as_word(match, is_run, in_heading)


def _is_spelled(word: str, is_run: bool) -> bool:
    lowered = word.lower()
    if word in _AS_LETTERS:
        return not (is_run and lowered in _SHORT_WORDS)
    if len(word) <= 3:
        if lowered in _SHORT_WORDS or (is_run and _VOWEL.search(word)):
            return False
        is_syllable = len(word) == 3 and re.fullmatch("[^AEIOUY][AEIOUY][^AEIOUYHJQWX]", word)
        return not is_syllable
    if lowered in _SHORT_WORDS:
        return False
    if not re.search("[AEIOUÀ-ÖØ-Ý]", word):
        return (
            not (re.search("Y", word) and len(word) < 7 and not re.match("[^AEIOU]{4}|Y", word)) and len(set(word)) > 2
        )
    if re.match("(?!S[CPTLMNQKW]|SH|TH|CH|PH|WH|[BCFGKPST][LR])[^AEIOUY]{3}", word):
        return not is_run
    return not is_run and len(word) == 4 and bool(_UNSAYABLE.search(word))


def _say_as_word(match: re.Match[str], is_run: bool, in_heading: bool) -> str:
    """Titles keep the capitals of a title; a word that is merely loud gets none, unless it begins a sentence."""
    word = match["x"]
    before = text_before(match, 12)
    if re.search(rf"{_CAPS}-\Z", before):
        return word.lower()
    is_start = _SENTENCE_START.search(before) is not None or word.capitalize() in _CALENDAR
    if is_start or ((is_run or in_heading) and word.lower() not in _SMALL_WORDS):
        return _capitalize(word)
    return word.lower()


def _capitalize(word: str) -> str:
    lowered = word.lower()
    return lowered[:1].upper() + lowered[1:]


def _say_contraction(match: re.Match[str]) -> str:
    """DON'T, I'LL, O'BRIEN, D'ARTAGNAN."""
    first, _, rest = match["x"].partition("'")
    if rest in ("S", "T", "M", "D", "LL", "RE", "VE", "EM", "TIS", "TWAS") or len(rest) < 3:
        start = _SENTENCE_START.search(text_before(match, 12)) or _is_run(match)
        front = first if first == "I" else first.lower()
        if first in _AS_LETTERS and rest == "S":
            return " ".join(first) + "'s"
        return (front[:1].upper() + front[1:] if start else front) + "'" + rest.lower()
    return (
        first.capitalize()
        + "'"
        + "'".join(part.capitalize() if len(part) > 2 else part.lower() for part in rest.split("'"))
    )


def _say_plural(match: re.Match[str]) -> str | None:
    """TVs, MPs, UFOs."""
    word = match["x"]
    return " ".join(word) if _is_spelled(word, False) or word in ("MP", "PC", "CD", "VIP", "CEO") else None


def _follows_number(match: re.Match[str]) -> bool:
    return re.search(r"[0-9][^A-Za-z]*\Z", text_before(match, 12)) is not None


def _say_dotted(match: re.Match[str]) -> str | None:
    """U.S.A., F.B.I., A.M.: the letters, and the stop where a sentence ends."""
    letters = "".join(re.findall(r"[^\W\d_]", match["x"])).upper()
    if letters in ("PS", "PPS", "NB"):
        return " ".join(letters)
    is_era = letters in ("BC", "AD", "PM", "AM") and _follows_number(match)
    return spell(letters, keep_stop(match, before_any_capital=is_era) if match["x"].endswith(".") else "", match)


def _say_degree(match: re.Match[str]) -> str:
    names = {"Ph": "P H", "Litt": "Litt", "Sc": "S C", "Phil": "Phil", "Ed": "E D", "Mus": "Mus", "Lit": "Lit"}
    parts = re.findall("[A-Za-z]+", match["x"])
    return " ".join(names.get(part, part) for part in parts) + (
        keep_stop(match, before_any_capital=False) if match["x"].endswith(".") else ""
    )


def _say_initial(match: re.Match[str]) -> str | None:
    """J. R. R. Tolkien; George W. Bush; I met V. and Mi. Not "Plan B. Then", nor "So do I. He"."""
    letters = re.findall(r"[^\W\d_]", match["x"])
    before, after = text_before(match), text_after(match)
    said = " ".join(letters)
    if len(letters) == 1:
        if re.match(r" [a-z]|,|;|:|[!?]", after):
            if letters[0] in "IAO" and not re.search(r"[A-Z]\w+ \Z", before):
                return None
            return said
        if (
            letters[0] == "I"
            and not re.match(r" [A-Z]\.", after)
            and not re.search(r"\b(?:[A-Z]\. |[A-Z][a-z]+ )\Z", before)
        ):
            return None
        if _LETTERED.search(before) or not re.match(rf" (?!{STARTER})[A-ZÀ-Þ]", after):
            return None
        is_named = re.search(
            r"(?:\A|[.!?] |[\"'(—] ?|\b[A-ZÀ-Þ][\w'.]+ |\b(?:by|of|and|to|with|from|that|when|&|for|as|in|is|was) )\Z",
            before,
        )
        return said if is_named else None
    if re.match(rf" (?!{STARTER})[A-ZÀ-Þ]", after):
        return said
    return said + keep_stop(match, before_any_capital=False)


_LETTERED = re.compile(
    r"\b(?i:vitamin|plan|class|type|grade|section|part|appendix|figure|exhibit|group|block|hepatitis|option|point|room|"
    r"schedule|team|company|train|line|unit|letter|model|note|key|string|major|minor|flat|sharp)s? \Z"
)


def _say_lone_pm(match: re.Match[str]) -> str:
    stop = keep_stop(match, before_any_capital=_follows_number(match)) if match["x"].endswith(".") else ""
    return spell(match["x"][0].upper() + "M", stop, match)


def _say_censored(match: re.Match[str]) -> str:
    """Mr. D——, Lord M—: the blank is said."""
    return f"{match['letter']} blank"


_OATHS = {
    "d n": "damn",
    "d d": "damned",
    "h l": "hell",
    "d l": "devil",
    "b y": "bloody",
    "d ned": "damned",
    "d nation": "damnation",
    "g d": "God",
    "d nd": "damned",
    "d st": "damndest",
}


def _say_oath(match: re.Match[str]) -> str | None:
    said = _OATHS.get(f"{match[1]} {match[2]}".lower())
    return said and (said.capitalize() if match[1].isupper() else said)


_TITLE_BEFORE = (
    r"(?:M(?:r|rs|iss|s|me|lle|onsieur|adame|essrs)\.?|Lord|Lady|Sir|Captain|Capt\.|Count|Countess|Colonel|Col\.|"
    r"Doctor|Dr\.|General|Prince|Princess|Duke|Duchess|Baron|Major|Marquis|Earl|Dean|Bishop|Father|Professor|of|"
    r"at|in|to|from|near|called|certain|de|von)"
)

_LETTER_STOPS = with_stops("abcdefghijklmnopqrstuvwxyzàáâäçèéêëìíîïñòóôöøùúûüý")

EARLY_RULES = (
    make_rule(
        "letters",
        r"(?<![\w'&])(?P<x>AT&T|A&P|R&B|R&D|B&B|B&O|Q&A|M&M|P&O|S&P|A&E|D&D|H&M|P&L|B&W|M&S)(?!\w)",
        lambda m: " and ".join(" ".join(part) for part in m["x"].split("&")),
        "&",
    ),
    make_rule("blank", r"(?<![\w'])(?:——+|—|⸺|--+)(?=th\b)", "blank", "—⸺-"),
    make_rule("blank", r"(?<![\w'])(?:——+|⸺)(?=shire\b)", "Blank", "—⸺"),
    make_rule(
        "blank",
        r"(?<![\w'])(?P<x>[A-Z](?:——+|——|⸺|—|--+|____*)(?=(?:shire|ville|town|ham|burgh?|sky|berg)\b))",
        "Blank",
        "—⸺-_",
    ),
    make_rule(
        "blank",
        rf"\b{_TITLE_BEFORE} (?P<x>(?P<letter>[A-Z])(?:—{{1,4}}|⸺|--{{1,3}}|_{{2,}}))(?=[\s.,;:!?')\"]|\Z)",
        _say_censored,
        "—⸺-_",
    ),
    make_rule("blank", r"(?<![\w'])(?P<x>(?P<letter>[B-HJ-NP-Z])(?:——+|⸺))(?=[\s.,;:!?')\"]|\Z)", _say_censored, "—⸺"),
    make_rule("blank", rf"\b(?:{_TITLE_BEFORE}|the) (?P<x>——+|⸺|———+)(?=[\s.,;:!?'th]|\Z)", "blank", "—⸺"),
    make_rule(
        "oath", r"(?<![\w'-])([dDhHbBgG])(?:——?|⸺|--?-?|–)(n|d|l|y|ned|nation|nd|st)(?![\w'-])", _say_oath, "—–-⸺"
    ),
)

RULES = (
    make_rule("degree", r"(?<![\w.])(?P<x>PhD)(?=s?\b)", "P H D", "P"),
    make_rule("article", r"(?<=[A-Z]{2} )A(?= [A-Z]{2})", "a", "A"),
    make_rule(
        "degree",
        r"(?<![\w.])(?P<x>Ph\. ?D\.?|D\.Phil\.|D\.Sc\.|B\.Sc\.|M\.Sc\.|Litt\. ?D\.|M\.Ed\.|Ed\.D\.)(?!\w)",
        _say_degree,
        with_stops(["d", "ph", "phil", "sc", "ed"]),
    ),
    make_rule("letters", r"(?<![\w.'])(?P<x>[AaPp]\. ?[Mm]\.)(?!\w)", _say_lone_pm, with_stops(["m"])),
    make_rule(
        "letters",
        r"(?<![\w.'])(?P<x>(?:[A-Z]\.){2,}'?s)\b",
        lambda m: " ".join(re.findall("[A-Z]", m["x"])) + ("'s" if "'" in m["x"] else "s"),
        ".",
    ),
    make_rule(
        "letters",
        r"(?<![\w.'])(?P<x>(?:[A-Z]\.){2,}(?:[A-Z]\b(?![\w']))?|(?:[A-Z]\.-?){2,}|[A-Z](?:\.[A-Z])+\b(?!\w))(?!\w)",
        _say_dotted,
        _LETTER_STOPS,
    ),
    make_rule(
        "letters",
        r"(?<![\w.'])(?<![A-Z]\. )(?P<x>(?:B\. C|A\. D|U\. S|P\. M|A\. M|N\. Y|M\. P|U\. S\. A|U\. K|P\. S|M\. D|"
        r"B\. C\. "
        r"E)\.)(?!\w)",
        _say_dotted,
        _LETTER_STOPS,
    ),
    make_rule(
        "initials",
        r"(?<![\w.'&])(?P<x>(?:[A-ZÀ-Þ]\. ){1,5}[A-ZÀ-Þ]\.|[A-ZÀ-Þ]\.)(?!\w)(?!\.)",
        _say_initial,
        _LETTER_STOPS,
    ),
    make_rule(
        "letters",
        r"(?<![\w.'&])(?P<x>q\.v\.|p\.p\.|s\.v\.|r\.s\.v\.p\.|n\.d\.|d\.v\.)",
        _say_dotted,
        with_stops(["v", "p", "d"]),
    ),
    make_rule("capitals", rf"(?<![\w.'@/-])(?P<x>{_CAPS}+'{_CAPS}+(?:'{_CAPS}+)?)(?![\w'])", _say_contraction, "'"),
    make_rule("capitals", r"(?<![\w.@'])(?P<x>[A-Z]{2,5})s(?![\w])", _say_plural, "s"),
    make_rule("capitals", rf"(?<![\w@_])(?P<x>{_CAPS}{{2,}}+)(?![\w@_])", _say_capitals),
)

HEADING_RULES = (
    make_rule(
        "capitals",
        rf"(?<![\w@_])(?P<x>{_CAPS}{{2,}}+)(?![\w@_])",
        lambda m: _say_capitals(m, in_heading=not re.search("[a-z]", m.string[:400])),
    ),
)
