"""Measures: units, degrees, percent, powers, feet and inches."""

from __future__ import annotations

import re

from pipeline.script.english.context import keep_stop
from pipeline.script.english.numbers import (
    AMOUNT,
    FRACTION,
    RANGE,
    VULGAR,
    is_one,
    name_amount,
    name_cardinal,
    name_integer,
    name_ordinal,
)
from pipeline.script.rules import make_rule, text_after, text_before

# fmt: off
_UNITS = {
    "km": "kilometer", "cm": "centimeter", "mm": "millimeter", "µm": "micrometer", "μm": "micrometer",
    "nm": "nanometer",
    "m": "meter", "mi": "mile", "yd": "yard", "yds": "yard", "ft": "foot", "in": "inch", "ins": "inch",
    "kg": "kilogram", "kgs": "kilogram", "mg": "milligram", "µg": "microgram", "μg": "microgram", "g": "gram",
    "gm": "gram",
    "lb": "pound", "lbs": "pound", "oz": "ounce", "ozs": "ounce", "cwt": "hundredweight", "gr": "grain",
    "l": "liter", "L": "liter", "ml": "milliliter", "mL": "milliliter", "cl": "centiliter", "dl": "deciliter",
    "tsp": "teaspoon", "tsps": "teaspoon", "tbsp": "tablespoon", "tbsps": "tablespoon", "tbs": "tablespoon",
    "gal": "gallon", "gals": "gallon", "qt": "quart", "qts": "quart", "pt": "pint", "pts": "pint", "bu": "bushel",
    "mph": "mile per hour", "kph": "kilometer per hour", "kmh": "kilometer per hour", "km/h": "kilometer per hour",
    "m/s": "meter per second", "km/s": "kilometer per second", "ft/s": "foot per second", "fps": "foot per second",
    "rpm": "revolution per minute", "bpm": "beat per minute", "mpg": "mile per gallon", "psi": "pound per square inch",
    "hp": "horsepower", "h.p": "horsepower", "m.p.h": "mile per hour", "c.c": "cubic centimeter",
    "kms": "kilometer", "kW": "kilowatt", "MW": "megawatt", "GW": "gigawatt",
    "kWh": "kilowatt-hour",
    "kV": "kilovolt", "mA": "milliamp", "Hz": "hertz", "kHz": "kilohertz", "MHz": "megahertz", "GHz": "gigahertz",
    "dB": "decibel", "KB": "kilobyte", "kB": "kilobyte", "MB": "megabyte", "GB": "gigabyte", "TB": "terabyte",
    "Mbps": "megabit per second", "mbps": "megabit per second", "kcal": "kilocalorie", "cal": "calorie",
    "kJ": "kilojoule",
    "kPa": "kilopascal", "cc": "cubic centimeter", "ha": "hectare",
    "sec": "second", "secs": "second", "min": "minute", "mins": "minute", "hr": "hour", "hrs": "hour",
    "yr": "year", "yrs": "year", "wk": "week", "wks": "week", "mo": "month", "mos": "month", "ms": "millisecond",
    "doz": "dozen", "KG": "kilogram", "KM": "kilometer", "Kg": "kilogram", "Km": "kilometer", "V": "volt", "W": "watt",
}
# Only written together with their number: "5 l" and "5 in" are too much like something else.
_TIGHT = frozenset(("l", "L", "gr", "cal", "bu", "mi"))
# These are words: they are units with a stop, or joined to the number.
_WORDS = frozenset(("in", "ins", "gal", "mo", "mos", "pt", "pts", "ms", "gr", "cal", "ha", "min", "doz", "mi", "sec",
                    "bu"))
_INVARIABLE = frozenset(("hertz", "kilohertz", "megahertz", "gigahertz", "horsepower", "hundredweight", "dozen"))
_PLURALS = {"foot": "feet", "inch": "inches"}
_POWERS = {"²": "square", "2": "square", "³": "cubic", "3": "cubic"}
_RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
# fmt: on
_COMPASS = {"N": "north", "S": "south", "E": "east", "W": "west"}
_BEGIN = r"(?<![\w.$£€¥₹#§^@])(?<![0-9][.,:/'\-–])"
_UNIT = "|".join(sorted(map(re.escape, _UNITS), key=len, reverse=True))
_DETERMINER = re.compile(
    r"\b(?:an?|the|his|her|my|your|their|our|its|that|this|each|every|another|one|single)\s\Z", re.I
)
_NOUN = re.compile(
    r"\s(?!(?:a|an|the|of|in|at|on|to|and|or|by|per|from|for|with|away|apart|long|wide|high|tall|deep|thick|broad|off|"
    r"above|below|across|up|down|out|further|farther|ahead|behind|distant|more|less|each|is|was|were|are|had|he|she|it|"
    r"they|we|that|which|when|than|as|but|if|so|square|round|before|after|later|ago|north|south|east|west|"
    r"long\w*)\b)[a-z]{3,}"
)
_DIGITS = "0123456789"
_DIGITS_AND_SIGNS = _DIGITS + VULGAR


def _say_measure(match: re.Match[str]) -> str | None:
    """A number and its unit, one or many; the unit is singular as an adjective (a 12-in. gun, a 5 km walk)."""
    amount, unit, gap, dot = match["amount"], match["unit"], match["gap"], match["dot"]
    after = text_after(match)
    if unit in _TIGHT and gap not in ("", "-") and not dot:
        return None
    is_time = unit in ("min", "sec") and re.match(r"[\s,;.)]|\Z", after)
    if unit in _WORDS and gap == " " and not dot and not is_time:
        return None
    if (
        unit == "in"
        and gap == " "
        and re.match(r"\s[\"'(]*[A-Z]", after)
        and not re.search(r"(?:ft\.?|feet|by|[x×]|wide|measur\w+)\s\Z", text_before(match))
    ):
        return None
    if unit in ("m", "g") and re.match(r"['’]", after):
        return None
    name = _UNITS[unit]
    power = (
        _POWERS.get(match["power"] or "")
        or {"sq": "square ", "cu": "cubic "}.get((match["kind"] or "").rstrip(". "), "").strip()
    )
    is_adjective = gap == "-" or bool(_DETERMINER.search(text_before(match, 10)) and _NOUN.match(after))
    amount_words = name_amount(amount)
    stop = keep_stop(match, before_any_capital=False) if dot else ""
    if _is_part(amount) and not is_adjective:
        return f"{_name_part(amount, name, power)}{stop}"
    if not (is_one(amount) or is_adjective):
        name = _name_many(name)
    if power:
        name = f"{power} {name}"
    joint = "-" if is_adjective and " " not in amount_words else " "
    return f"{amount_words}{joint}{name}{stop}"


def _is_part(amount: str) -> bool:
    return amount in VULGAR or re.fullmatch(FRACTION, amount) is not None


def _name_part(amount: str, name: str, power: str) -> str:
    """½ lb is half a pound."""
    name = f"{power} {name}".strip()
    article = "an" if name[0] in "aeio" or name.startswith("hour") else "a"
    words = name_amount(amount)
    return f"half {article} {name}" if words == "one half" else f"{words.replace('one ', 'a ')} of {article} {name}"


def _name_many(name: str) -> str:
    first, _, rest = name.partition(" ")
    if first in _INVARIABLE:
        return name
    if first == "cubic":
        return name + "s"
    return _PLURALS.get(first, first + "s") + (f" {rest}" if rest else "")


def _say_feet_and_inches(match: re.Match[str]) -> str:
    inches = name_amount(match["inches"])
    return f"{name_integer(match['feet'])} foot {inches}"


def _say_inches(match: re.Match[str]) -> str | None:
    """12" where no speech is open."""
    before = match.string[max(0, match.start() - 150) : match.start()]
    if len(re.findall('(?<![0-9])"', before)) % 2:
        return None
    is_adjective = _DETERMINER.search(text_before(match, 10)) and _NOUN.match(text_after(match))
    return name_amount(match["amount"]) + (
        "-inch" if is_adjective else " inch" if is_one(match["amount"]) else " inches"
    )


def _say_degrees(match: re.Match[str]) -> str:
    sign = "minus " if match["minus"] else ""
    scale = {"F": " Fahrenheit", "C": " Celsius", "K": " Kelvin", "R": " Réaumur"}.get(
        (match["scale"] or "").upper(), ""
    )
    after = text_after(match)
    is_adjective = re.match(
        r"[ -](?:angle|turn|bend|slope|arc|heat|weather|view|panorama|incline|rotation|mark|day|fever|cold|water)\b",
        after,
    )
    number = name_amount(match["amount"].replace("°", ""))
    noun = "degree" if is_one(match["amount"]) or is_adjective else "degrees"
    dot = keep_stop(match) if match[0].endswith(".") else ""
    joint = "-" if is_adjective and " " not in number else " "
    return f"{sign}{number}{joint}{noun}{scale}{dot}"


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
    sign = "minus " if match["minus"] else ""
    unit = "percent" if match["unit"] == "%" else "per thousand"
    amount = re.sub(r"% ?(?=[-–])", "", match["amount"])
    joint = "-" if match["hyphen"] else " "
    return f"{sign}{name_amount(amount)}{joint}{unit}"


def _say_power(match: re.Match[str]) -> str | None:
    base, exponent = match["base"], (match["raised"] or match["written"]).translate(_RAISED)
    if not re.fullmatch(r"-?(?:[0-9]{1,4}|[a-z])", exponent):
        return None
    said = base if not base[0].isdecimal() else name_integer(base) if base != "0" else base
    if exponent in ("2", "3"):
        return f"{said} {'squared' if exponent == '2' else 'cubed'}"
    if exponent.lstrip("-").isdecimal():
        number = int(exponent.lstrip("-"))
        return f"{said} to the {'minus ' + name_cardinal(number) if exponent[0] == '-' else name_ordinal(number)}"
    return f"{said} to the {exponent.replace('-', 'minus ')}"


def _say_by(match: re.Match[str]) -> str:
    return " by "


_KIND = r"(?P<kind>sq\.? ?|cu\.? ?)?"
_MINUS = "(?P<minus>(?:(?<=[\\s(])|\\A)[-−–]|(?<![\\w])−)?"

RULES = (
    make_rule(
        "measure",
        r"(?<![\w.,$£€/-])(?<![0-9] )(?P<amount>[1-9][0-9]{0,2}(?: [0-9]{3})+) (?P<unit>km|kg|m|ft|lb|lbs|miles|"
        r"metres|meters|feet|yards|pounds|tons|tonnes|men|people|years|dollars|francs)\b",
        lambda m: (
            f"{name_integer(m['amount'].replace(' ', ''))} "
            f"{_name_many(_UNITS[m['unit']]) if m['unit'] in _UNITS else m['unit']}"
        ),
        _DIGITS,
    ),
    make_rule(
        "position",
        rf"{_BEGIN}(?P<degrees>{AMOUNT}) ?[°º] ?(?P<minutes>{AMOUNT}) ?['′](?: ?(?P<seconds>{AMOUNT}) "
        rf"?[\"″])?(?: ?(?P<compass>[NSEW])(?![\w'])\.?)?",
        _say_position,
        "°º",
    ),
    make_rule(
        "position",
        rf"{_BEGIN}(?P<degrees>{AMOUNT}) ?[°º](?P<minutes>)(?P<seconds>) ?(?P<compass>[NSEW])(?![\w'])\.?",
        _say_position,
        "°º",
    ),
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
        lambda m: "foot" if m["x"] == "ft." else "pound",
        ["ft.", "lb."],
    ),
    make_rule("latitude", r"\b[Ll]at\.(?= [0-9])", lambda m: "latitude" if m[0][0] == "l" else "Latitude", ["lat."]),
    make_rule(
        "longitude", r"\b[Ll]ong\.(?= [0-9])", lambda m: "longitude" if m[0][0] == "l" else "Longitude", ["long."]
    ),
    make_rule(
        "percent",
        rf"(?<![\w.$£€¥#^@]){_MINUS}(?P<amount>{AMOUNT}(?:%? ?[-–] ?{AMOUNT})?|{FRACTION}) "
        rf"?(?P<unit>[%‰])(?P<hyphen>-(?=[a-z]))?(?!\w)",
        lambda m: _say_percent(m) + ("-" if m["hyphen"] else ""),
        "%‰",
    ),
    make_rule(
        "feet and inches",
        rf"{_BEGIN}(?P<feet>[0-9]{{1,3}}) ?['′]-? ?(?P<inches>[0-9]{{1,2}}(?:[ -]?[{VULGAR}]|\.[0-9])?) ?(?:[\"″]|'')",
        _say_feet_and_inches,
        "'′",
    ),
    make_rule("inches", rf"{_BEGIN}(?P<amount>{AMOUNT})(?: ?″|\"(?![\w]))", _say_inches, '"″'),
    make_rule(
        "feet",
        rf"{_BEGIN}(?P<amount>{AMOUNT}) ?′",
        lambda m: f"{name_amount(m['amount'])} {'foot' if is_one(m['amount']) else 'feet'}",
        "′",
    ),
    make_rule(
        "measure",
        rf"{_BEGIN}(?P<amount>{RANGE})(?P<gap> ?|-){_KIND}(?P<unit>{_UNIT})(?P<power>[²³]|"
        rf"\^?[23](?![\w.]))?(?![\w²³^/])(?!\.\w)(?!['’]\w)(?P<dot>\.)?",
        _say_measure,
        _DIGITS_AND_SIGNS,
    ),
    make_rule(
        "power",
        r"(?<![\w.])(?P<base>[0-9]{1,15}|[A-Za-z]{1,2})(?:(?P<raised>[⁻]?[⁰¹²³⁴⁵⁶⁷⁸⁹]+)|"
        r"\^(?P<written>-?[0-9a-z]{1,4}))(?![\w^])",
        _say_power,
        "⁰¹²³⁴⁵⁶⁷⁸⁹^",
    ),
    make_rule("by", rf"(?:(?<=[0-9{VULGAR}])|(?<=[0-9]['\"′″])) ?[×xX] ?(?=[0-9.{VULGAR}])", _say_by, "×xX"),
    make_rule("by", r"(?:ft|in|cm|m|mm|feet|inches|yards|meters|metres)\.?(?P<x> ?[×x] ?)(?=[0-9])", _say_by, "×x"),
)
