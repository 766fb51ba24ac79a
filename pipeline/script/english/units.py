"""Units of measure, as they are abbreviated after a number."""

from __future__ import annotations

# fmt: off
UNITS = {
    "km": "kilometer", "cm": "centimeter", "mm": "millimeter", "µm": "micrometer", "μm": "micrometer",
    "nm": "nanometer", "m": "meter", "kms": "kilometer", "KM": "kilometer", "Km": "kilometer",
    "mi": "mile", "yd": "yard", "yds": "yard", "ft": "foot", "in": "inch", "ins": "inch", "ha": "hectare",
    "kg": "kilogram", "kgs": "kilogram", "KG": "kilogram", "Kg": "kilogram",
    "mg": "milligram", "µg": "microgram", "μg": "microgram", "g": "gram", "gm": "gram",
    "lb": "pound", "lbs": "pound", "oz": "ounce", "ozs": "ounce", "cwt": "hundredweight", "gr": "grain",
    "l": "liter", "L": "liter", "ml": "milliliter", "mL": "milliliter", "cl": "centiliter", "dl": "deciliter",
    "tsp": "teaspoon", "tsps": "teaspoon", "tbsp": "tablespoon", "tbsps": "tablespoon", "tbs": "tablespoon",
    "gal": "gallon", "gals": "gallon", "qt": "quart", "qts": "quart", "pt": "pint", "pts": "pint", "bu": "bushel",
    "mph": "mile per hour", "kph": "kilometer per hour", "kmh": "kilometer per hour", "km/h": "kilometer per hour",
    "m/s": "meter per second", "km/s": "kilometer per second", "ft/s": "foot per second", "fps": "foot per second",
    "rpm": "revolution per minute", "bpm": "beat per minute", "mpg": "mile per gallon", "psi": "pound per square inch",
    "hp": "horsepower", "h.p": "horsepower", "m.p.h": "mile per hour", "c.c": "cubic centimeter",
    "V": "volt", "W": "watt", "kW": "kilowatt", "MW": "megawatt", "GW": "gigawatt", "kWh": "kilowatt-hour",
    "kV": "kilovolt", "mA": "milliamp", "Hz": "hertz", "kHz": "kilohertz", "MHz": "megahertz", "GHz": "gigahertz",
    "dB": "decibel", "KB": "kilobyte", "kB": "kilobyte", "MB": "megabyte", "GB": "gigabyte", "TB": "terabyte",
    "Mbps": "megabit per second", "mbps": "megabit per second", "kcal": "kilocalorie", "cal": "calorie",
    "kJ": "kilojoule", "kPa": "kilopascal", "cc": "cubic centimeter",
    "sec": "second", "secs": "second", "min": "minute", "mins": "minute", "hr": "hour", "hrs": "hour",
    "yr": "year", "yrs": "year", "wk": "week", "wks": "week", "mo": "month", "mos": "month", "ms": "millisecond",
    "doz": "dozen",
}
# Only written together with their number: "5 l" and "5 in" are too much like something else.
TIGHT = frozenset(("l", "L", "gr", "cal", "bu", "mi"))
# These are words: they are units with a stop, or joined to the number.
ALSO_WORDS = frozenset("bu cal doz gal gr ha in ins mi min mo mos ms pt pts sec".split())
_INVARIABLE = frozenset(("hertz", "kilohertz", "megahertz", "gigahertz", "horsepower", "hundredweight", "dozen"))
# fmt: on
_PLURALS = {"foot": "feet", "inch": "inches"}


def name_units(name: str) -> str:
    """The plural: feet per second, cubic meters, hertz."""
    first, _, rest = name.partition(" ")
    if first in _INVARIABLE:
        return name
    if first == "cubic":
        return name + "s"
    return _PLURALS.get(first, first + "s") + (f" {rest}" if rest else "")
