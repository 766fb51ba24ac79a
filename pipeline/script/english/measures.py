"""Measures: units, degrees, percent, powers, feet and inches."""

from __future__ import annotations

import re

from pipeline.script.english.context import DETERMINER, VERB, keep_stop, like_case
from pipeline.script.english.numbers import (
    AMOUNT,
    BEGIN,
    DIGITS,
    FRACTION,
    RANGE,
    VULGAR,
    is_one,
    name_amount,
    name_cardinal,
    name_integer,
    name_ordinal,
)
from pipeline.script.english.units import ALSO_WORDS, TIGHT, UNITS, name_units
from pipeline.script.rules import any_of, make_rule, text_after, text_before

_POWERS = {"²": "square", "2": "square", "³": "cubic", "3": "cubic"}
_KINDS = {"sq": "square", "cu": "cubic"}
_SCALES = {"F": " Fahrenheit", "C": " Celsius", "K": " Kelvin", "R": " Réaumur"}
_RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
_COMPASS = {"N": "north", "S": "south", "E": "east", "W": "west"}
_UNIT = any_of(UNITS)
_DETERMINER = re.compile(rf"\b(?:{DETERMINER})\s\Z", re.I)
_NOUN = re.compile(
    r"\s(?!(?:a|an|the|of|in|at|on|to|and|or|by|per|from|for|with|away|apart|long|wide|high|tall|deep|thick|broad|off|"
    r"above|below|across|up|down|out|further|farther|ahead|behind|distant|more|less|each|is|was|were|are|had|he|she|it|"
    r"they|we|that|which|when|than|as|but|if|so|square|round|before|after|later|ago|north|south|east|west|"
    r"long\w*)\b)[a-z]{3,}"
)
_LENGTH_BEFORE = re.compile(r"(?:ft\.?|feet|by|[x×]|wide|measur\w+)\s\Z")
"""6 ft. 5 in. That"""
_NAME_ACTS = re.compile(rf"\s[A-Z][\w'-]+ {VERB}")
"""5 lbs. Tom laughed; not 5 lbs. Leyden cheese."""
_ANGLE_AFTER = re.compile(
    r"[ -](?:angle|turn|bend|slope|arc|heat|weather|view|panorama|incline|rotation|mark|day|fever|cold|water)\b"
)
_DIGITS_AND_SIGNS = DIGITS + VULGAR


def _say_measure(match: re.Match[str]) -> str | None:
    """A number and its unit, one or many; the unit is singular as an adjective (a 12-in. gun, a 5 km walk)."""
    amount, unit, dot = match["amount"], match["unit"], match["dot"]
    if not _is_unit(match):
        return None
    name = UNITS[unit]
    power = _POWERS.get((match["power"] or "").lstrip("^")) or _KINDS.get((match["kind"] or "").rstrip(". "))
    is_adjective = match["gap"] == "-" or _is_adjective(match)
    amount_words = name_amount(amount)
    stop = keep_stop(match, before_any_capital=bool(_NAME_ACTS.match(text_after(match)))) if dot else ""
    is_part = amount in VULGAR or re.fullmatch(FRACTION, amount) is not None
    if is_part and not is_adjective:
        return _name_part(amount, f"{power} {name}" if power else name) + stop
    if not (is_one(amount) or is_adjective):
        name = name_units(name)
    if power:
        name = f"{power} {name}"
    joint = "-" if is_adjective and " " not in amount_words else " "
    return f"{amount_words}{joint}{name}{stop}"


def _is_unit(match: re.Match[str]) -> bool:
    """Whether the letters after a number are a unit, rather than a word or the end of a sum."""
    unit, gap, dot, after = match["unit"], match["gap"], match["dot"], text_after(match)
    if unit in TIGHT and gap == " " and not dot:
        return False
    is_time = unit in ("min", "sec") and re.match(r"[\s,;.)]|\Z", after)
    if unit in ALSO_WORDS and gap == " " and not dot and not is_time:
        return False
    ends_sentence = gap == " " and re.match(r"\s[\"'(]*[A-Z]", after)
    if unit == "in" and ends_sentence and not _LENGTH_BEFORE.search(text_before(match)):
        return False
    if unit == "W" and re.match(r"\.?\s(?:[0-9]+(?:st|nd|rd|th)\b|[A-Z])", after):
        return False  # 350 W 42nd St.
    return not (unit in ("m", "g") and re.match(r"['’]", after))  # 5 m'


def _is_adjective(match: re.Match[str]) -> bool:
    """A 5 km walk."""
    return bool(_DETERMINER.search(text_before(match, 10)) and _NOUN.match(text_after(match)))


def _name_part(amount: str, name: str) -> str:
    """½ lb is half a pound, 3/4 lb three quarters of a pound."""
    article = "an" if name[0] in "aeio" or name.startswith("hour") else "a"
    words = name_amount(amount)
    return f"half {article} {name}" if words == "one half" else f"{words.replace('one ', 'a ')} of {article} {name}"


def _say_grouped(match: re.Match[str]) -> str:
    """10 000 km."""
    unit = match["unit"]
    return f"{name_integer(match['amount'].replace(' ', ''))} {name_units(UNITS[unit]) if unit in UNITS else unit}"


def _say_feet_and_inches(match: re.Match[str]) -> str:
    """5'10", five foot ten."""
    return f"{name_integer(match['feet'])} foot {name_amount(match['inches'])}"


def _say_feet(match: re.Match[str]) -> str:
    return f"{name_amount(match['amount'])} {'foot' if is_one(match['amount']) else 'feet'}"


def _say_inches(match: re.Match[str]) -> str | None:
    """12" where no speech is open."""
    before = match.string[max(0, match.start() - 150) : match.start()]
    if len(re.findall('(?<![0-9])"|(?<=[0-9])"(?=[\\s,.;:!?)]|\\Z)', before)) % 2:
        return None
    unit = "-inch" if _is_adjective(match) else " inch" if is_one(match["amount"]) else " inches"
    return name_amount(match["amount"]) + unit


def _say_degrees(match: re.Match[str]) -> str:
    """-5°, 90°F, a 45° angle."""
    scale = _SCALES.get((match["scale"] or "").upper(), "")
    is_adjective = _ANGLE_AFTER.match(text_after(match))
    number = name_amount(match["amount"].replace("°", ""))
    noun = "degree" if is_one(match["amount"]) or is_adjective else "degrees"
    joint = "-" if is_adjective and " " not in number else " "
    stop = keep_stop(match) if match[0].endswith(".") else ""
    return f"{'minus ' if match['minus'] else ''}{number}{joint}{noun}{scale}{stop}"


def _say_position(match: re.Match[str]) -> str:
    """47° 9′ S."""
    parts = [f"{name_amount(match['degrees'])} degree{'' if is_one(match['degrees']) else 's'}"]
    for group, unit in (("minutes", "minute"), ("seconds", "second")):
        if match[group]:
            parts.append(f"{name_amount(match[group])} {unit}{'' if is_one(match[group]) else 's'}")
    if match["compass"]:
        parts.append(_COMPASS[match["compass"]])
        if match[0].endswith("."):
            parts[-1] += keep_stop(match)
    return " ".join(parts)


def _say_percent(match: re.Match[str]) -> str:
    """5%, 5%-10%, a 5%-share."""
    unit = "percent" if match["unit"] == "%" else "per thousand"
    amount = name_amount(re.sub(r"% ?(?=[-–])", "", match["amount"]))
    minus = "minus " if match["minus"] else ""
    return f"{minus}{amount}-{unit}-" if match["hyphen"] else f"{minus}{amount} {unit}"


def _say_power(match: re.Match[str]) -> str | None:
    base, exponent = match["base"], (match["raised"] or match["written"]).translate(_RAISED)
    if not re.fullmatch(r"-?(?:[0-9]{1,4}|[a-z])", exponent):
        return None
    said = name_integer(base) if base[0].isdecimal() and base != "0" else base
    if exponent in ("2", "3"):
        return f"{said} {'squared' if exponent == '2' else 'cubed'}"
    number = exponent.removeprefix("-")
    if not number.isdecimal():
        return f"{said} to the {exponent.replace('-', 'minus ')}"
    return f"{said} to the {f'minus {name_cardinal(int(number))}' if number != exponent else name_ordinal(int(number))}"


def _say_foot_pound(match: re.Match[str]) -> str:
    """A six-ft. drop, a five-lb. bag."""
    return "foot" if match["x"] == "ft." else "pound"


def _say_position_name(match: re.Match[str]) -> str:
    """Lat. 5, long. 5."""
    return like_case(match[0], "latitude" if match[0].lower() == "lat." else "longitude")


_KIND = r"(?P<kind>sq\.? ?|cu\.? ?)?"
_MINUS = "(?P<minus>(?:(?<=[\\s(])|\\A)[-−–]|(?<![\\w])−)?"

RULES = (
    # 10 000 km
    make_rule(
        "measure",
        r"(?<![\w.,$£€/-])(?<![0-9] )(?P<amount>[1-9][0-9]{0,2}(?: [0-9]{3})+) (?P<unit>km|kg|m|ft|lb|lbs|miles|"
        r"metres|meters|feet|yards|pounds|tons|tonnes|men|people|years|dollars|francs)\b",
        _say_grouped,
        DIGITS,
    ),
    # 47° 9′ 12″ S.
    make_rule(
        "position",
        rf"{BEGIN}(?P<degrees>{AMOUNT}) ?[°º] ?(?P<minutes>{AMOUNT}) ?['′](?: ?(?P<seconds>{AMOUNT}) "
        rf"?[\"″])?(?: ?(?P<compass>[NSEW])(?![\w'])\.?)?",
        _say_position,
        "°º",
    ),
    # 47° S.
    make_rule(
        "position",
        rf"{BEGIN}(?P<degrees>{AMOUNT}) ?[°º](?P<minutes>)(?P<seconds>) ?(?P<compass>[NSEW])(?![\w'])\.?",
        _say_position,
        "°º",
    ),
    # -5°, 90–95 °F
    make_rule(
        "degrees",
        rf"(?<![\w.$£€¥#^@]){_MINUS}(?P<amount>{AMOUNT}(?:°? ?[-–] ?{AMOUNT}| to {AMOUNT})?) ?[°º](?: "
        rf"?(?P<scale>[CFKR])(?:\b(?!')\.?))?(?![\w])",
        _say_degrees,
        "°º",
    ),
    make_rule("square", r"\bsq\.(?= (?:mile|feet|foot|yard|inch|met|kilomet))", "square", ["sq."]),
    make_rule(
        "foot",
        r"(?<=[a-z]-)(?P<x>(?:ft|lb)\.)(?= [a-z])",
        _say_foot_pound,
        ["ft.", "lb."],
    ),
    make_rule("latitude", r"\b[Ll]at\.(?= [0-9])", _say_position_name, ["lat."]),
    make_rule("longitude", r"\b[Ll]ong\.(?= [0-9])", _say_position_name, ["long."]),
    # 5%, 5–10 %, 0.5‰
    make_rule(
        "percent",
        rf"(?<![\w.$£€¥#^@]){_MINUS}(?P<amount>{AMOUNT}(?:%? ?[-–] ?{AMOUNT})?|{FRACTION}) "
        rf"?(?P<unit>[%‰])(?P<hyphen>-(?=[a-z]))?(?!\w)",
        _say_percent,
        "%‰",
    ),
    # 5'10", 5′ 10″
    make_rule(
        "feet and inches",
        rf"{BEGIN}(?P<feet>[0-9]{{1,3}}) ?['′]-? ?(?P<inches>[0-9]{{1,2}}(?:[ -]?[{VULGAR}]|\.[0-9])?) ?(?:[\"″]|'')",
        _say_feet_and_inches,
        "'′",
    ),
    make_rule("inches", rf"{BEGIN}(?P<amount>{AMOUNT})(?: ?″|\"(?![\w]))", _say_inches, '"″'),
    make_rule(
        "feet",
        rf"{BEGIN}(?P<amount>{AMOUNT}) ?′",
        _say_feet,
        "′",
    ),
    # 3½ lb., 5–10 km, 12-in., 5 sq. ft, 5 m²
    make_rule(
        "measure",
        rf"{BEGIN}(?P<amount>{RANGE})(?P<gap> ?|-){_KIND}(?P<unit>{_UNIT})(?P<power>[²³]|"
        rf"\^?[23](?![\w.]))?(?![\w²³^/])(?!\.\w)(?!['’]\w)(?!-[0-9])(?P<dot>\.)?",
        _say_measure,
        _DIGITS_AND_SIGNS,
    ),
    # 10⁶, x^2
    make_rule(
        "power",
        r"(?<![\w.])(?P<base>[0-9]{1,15}|[A-Za-z]{1,2})(?:(?P<raised>[⁻]?[⁰¹²³⁴⁵⁶⁷⁸⁹]+)|"
        r"\^(?P<written>-?[0-9a-z]{1,4}))(?![\w^])",
        _say_power,
        "⁰¹²³⁴⁵⁶⁷⁸⁹^",
    ),
    # 3 x 5, 3" × 5"
    make_rule("by", rf"(?:(?<=[0-9{VULGAR}])|(?<=[0-9]['\"′″])) ?[×xX] ?(?=[0-9.{VULGAR}])", " by ", "×xX"),
    # 3 ft. x 5
    make_rule("by", r"(?:ft|in|cm|m|mm|feet|inches|yards|meters|metres)\.?(?P<x> ?[×x] ?)(?=[0-9])", " by ", "×x"),
)
