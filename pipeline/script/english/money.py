"""Sums of money: $1.5bn, a $20 bill, £5 10s. 6d., 50¢, 100 Rs."""

from __future__ import annotations

import re

from pipeline.script.english.context import DETERMINER, keep_stop
from pipeline.script.english.numbers import (
    AMOUNT,
    DIGITS,
    INTEGER,
    VULGAR,
    is_one,
    name_amount,
    name_cardinal,
    name_integer,
)
from pipeline.script.rules import make_rule, text_after, text_before

_CURRENCIES = {
    "$": ("dollar", "dollars", "cent", "cents"),
    "£": ("pound", "pounds", "penny", "pence"),
    "₤": ("pound", "pounds", "penny", "pence"),
    "€": ("euro", "euros", "cent", "cents"),
    "¥": ("yen", "yen", "", ""),
    "₹": ("rupee", "rupees", "paisa", "paise"),
    "₩": ("won", "won", "", ""),
    "₽": ("ruble", "rubles", "kopeck", "kopecks"),
}
_SIGN = f"[{''.join(_CURRENCIES)}]"
_COUNTRIES = {"US": "U S", "U.S.": "U S", "A": "Australian", "AU": "Australian", "C": "Canadian", "CA": "Canadian",
              "HK": "Hong Kong", "NZ": "New Zealand", "S": "Singapore"}  # fmt: skip
_SCALES = {"m": "million", "mn": "million", "mm": "million", "b": "billion", "bn": "billion", "k": "thousand",
           "tn": "trillion", "t": "trillion"}  # fmt: skip
_SCALE = r"(?:(?: |-)?(?P<scale>(?i:hundred|thousand|million|billion|trillion|mn|bn|tn|m|b|k))\b)"
_PERIODS = {"mo": "month", "month": "month", "yr": "year", "year": "year", "wk": "week", "week": "week", "d": "day",
            "day": "day", "hr": "hour", "hour": "hour", "h": "hour"}  # fmt: skip
_DECADE_BEFORE = re.compile(
    r"\b(?:the|his|her|their|my|our|your|early|late|mid|roaring|in)[ -]\Z|(?:\ds|ies) (?:and|or|to|through) \Z", re.I
)
"""The 20s; the 1960s and 70s."""
_DETERMINER = re.compile(rf"\b(?:{DETERMINER}|new|old|crisp)\s\Z", re.I)
_NOT_A_NOUN = (
    "a an the per for in of to and or nor from on at by each apiece more less now that which who was is were are as "
    "with if when while he she it they we you i his her my our your their had has have would will could should may "
    "might must but than then so not too also only just into onto over under upon after before out off up down back "
    "here there all every both worth extra today tonight cash"
).split()
_NOUN = re.compile(rf"\s(?!(?:{'|'.join(_NOT_A_NOUN)})\b)(?P<noun>[a-z]{{3,}})\b(?<!ed)(?<!ing)(?<!ly)")
_MONEY = re.compile(r"\s(?:bills?|notes?|coins?|pieces?|banknotes?|tickets?|stamps?|cheques?|checks?|chips?)\b")
_PENCE = {1: "a penny", 2: "twopence", 3: "threepence", 4: "fourpence", 5: "fivepence", 6: "sixpence",
          7: "sevenpence", 8: "eightpence", 9: "ninepence", 10: "tenpence", 11: "elevenpence"}  # fmt: skip


def _say_sum(match: re.Match[str]) -> str | None:
    sign, amount, scale = match["sign"], match["amount"], match["scale"]
    one, many, _, cents = _CURRENCIES[sign]
    if country := _COUNTRIES.get(match["country"] or ""):
        one, many = f"{country} {one}", f"{country} {many}"
    upto = match["upto"] or ""
    period = f" per {_PERIODS[match['per']]}" if match["per"] else ""
    if scale:
        scale = _SCALES.get(scale.lower(), scale.lower())
    words = name_amount(amount) + (f" to {name_amount(upto)}" if upto else "") + (f" {scale}" if scale else "")
    if match["hyphen"] is not None or (not period and _is_adjective(match)):
        return f"{words} {one}".replace(" ", "-") if " " not in name_amount(amount) else f"{words} {one}"
    num_decimals = len(amount.partition(".")[2])
    if scale or upto or not cents:
        return f"{words} {many}{period}"
    if num_decimals in (1, 2):
        return _name_change(amount, sign, one, many) + period
    return f"{words} {one if is_one(amount) else many}{period}"


def _name_change(amount: str, sign: str, one: str, many: str) -> str:
    """1.50 is one dollar and fifty cents, .05 five cents."""
    whole, _, decimals = amount.partition(".")
    num_cents = int(decimals.ljust(2, "0"))
    is_nothing = not whole.strip("0,")
    parts = []
    if not (is_nothing and num_cents):
        parts.append(f"{name_integer(whole or '0')} {one if is_one(whole or '0') else many}")
    if num_cents:
        _, _, cent, cents = _CURRENCIES[sign]
        parts.append(f"{name_cardinal(num_cents)} {cent if num_cents == 1 else cents}")
    return " and ".join(parts)


def _is_adjective(match: re.Match[str]) -> bool:
    """Whether a noun follows that the sum tells of: a $20 bill, but not "the $20 was his"."""
    after = text_after(match)
    return bool(_MONEY.match(after) or (_DETERMINER.search(text_before(match, 10)) and _NOUN.match(after)))


def _say_pounds(match: re.Match[str]) -> str:
    """Pounds, shillings and pence."""
    parts = []
    if match["pounds"]:
        parts.append(f"{name_integer(match['pounds'])} {'pound' if is_one(match['pounds']) else 'pounds'}")
    if match["shillings"]:
        parts.append(f"{name_integer(match['shillings'])} {'shilling' if is_one(match['shillings']) else 'shillings'}")
    pence = match["pence"]
    if pence:
        parts += ["and", _name_pence(pence)] if parts else [_name_pence(pence)]
    return " ".join(parts) + (keep_stop(match) if match[0][-1] == "." else "")


def _name_pence(pence: str) -> str:
    farthings = {"¼": "farthing", "½": "halfpenny", "¾": "three farthings"}
    whole, fraction = pence.rstrip(VULGAR), pence[-1]
    if not whole:
        return farthings[fraction] if fraction == "¾" else f"a {farthings[fraction]}"
    said = _PENCE.get(int(whole)) or f"{name_integer(whole)} pence"
    return f"{said} {farthings[fraction]}" if fraction in farthings else said


def _say_shillings(match: re.Match[str]) -> str | None:
    """10s. alone: not "the 20s." nor "in his 20s."."""
    if _DECADE_BEFORE.search(text_before(match)):
        return None
    return f"{name_integer(match[1])} {'shilling' if is_one(match[1]) else 'shillings'}{keep_stop(match)}"


def _say_pence_alone(match: re.Match[str]) -> str | None:
    """6d. but not 2d and 3d without a price before them: those are old ordinals."""
    is_sure = match[0].endswith(".") and not re.match(r"\s[A-Z]|\sof\b", text_after(match))
    if match[1][-1] in "23" and not is_sure:
        return None
    return _name_pence(match[1]) + (keep_stop(match) if match[0][-1] == "." else "")


def _say_small(match: re.Match[str]) -> str | None:
    """50p, 5c; but Flat 5c, and an 18ct gold ring."""
    unit = match["unit"]
    if unit == "c" and re.search(r"\b[A-Z][a-z]+ \Z", text_before(match)):
        return None
    if unit == "ct" and re.match(r" (?:gold|white|rose|diamond|ring)", text_after(match)):
        return f"{name_amount(match['amount'])} carat"
    one, many = ("penny", "pence") if unit == "p" else ("cent", "cents")
    dot = keep_stop(match) if match[0][-1] == "." else ""
    return f"{name_amount(match['amount'])} {one if is_one(match['amount']) else many}{dot}"


def _say_rupees(match: re.Match[str]) -> str | None:
    """Rs 5; not the 3 Rs of education."""
    if match["before"] and text_after(match).startswith(" of "):
        return None
    amount = match["before"] or match["after"]
    dot = keep_stop(match) if match["before"] and match[0][-1] == "." else ""
    return f"{name_amount(amount)} {'rupee' if is_one(amount) else 'rupees'}{dot}"


def _say_suffixed(match: re.Match[str]) -> str:
    one, many, _, _ = _CURRENCIES[match["sign"]]
    return f"{name_amount(match['amount'])} {one if is_one(match['amount']) else many}"


_PENNIES = r"(?P<pence>[0-9]{1,2}[½¼¾]?|[½¼¾])d\b\.?"
_DIGITS_AND_SIGNS = DIGITS + VULGAR

RULES = (
    make_rule(
        "pounds, shillings and pence",
        rf"(?<![\w.])[£₤](?P<pounds>{INTEGER})\.?,? (?P<shillings>[0-9]{{1,2}})s\b\.?(?:,? {_PENNIES})?",
        _say_pounds,
        "£₤",
    ),
    make_rule(
        "pounds, shillings and pence",
        rf"(?<![\w.£$])(?:(?P<pounds>{INTEGER})l\.,? )?(?P<shillings>[0-9]{{1,3}})s\b\.?,? {_PENNIES}",
        _say_pounds,
        DIGITS,
    ),
    make_rule(
        "money",
        rf"(?:\b(?P<country>US|U\.S\.|AU?|CA?|HK|NZ|S))?(?<![$£€¥])(?P<sign>{_SIGN}) ?(?P<amount>{AMOUNT})"
        rf"(?: ?[-–] ?{_SIGN}?(?P<upto>{AMOUNT}))?(?:{_SCALE}|(?![\w]))(?:/(?P<per>{'|'.join(_PERIODS)})\b)?"
        rf"(?P<hyphen>(?=-[a-z]))?(?![$£€¥@%])",
        _say_sum,
        "".join(_CURRENCIES),
    ),
    make_rule("money", rf"(?<![\w.,/-])(?P<amount>{AMOUNT}) ?(?P<sign>[€£₽])(?![\w])", _say_suffixed, "€£₽"),
    make_rule("cents", rf"(?<![\w.,/$])(?P<amount>{AMOUNT}) ?(?P<unit>¢)", _say_small, "¢"),
    make_rule(
        "cents", r"(?<![\w.,/$])(?P<amount>[0-9]{1,2}) ?(?P<unit>cts?|(?<=[0-9])c)\b\.?", _say_small, _DIGITS_AND_SIGNS
    ),
    make_rule(
        "pence",
        rf"(?<![\w.,/$-])(?P<amount>[0-9]{{1,2}}[{VULGAR}]?)(?P<unit>p)(?![\w.])",
        _say_small,
        _DIGITS_AND_SIGNS,
    ),
    make_rule("shillings", r"(?<![\w.,/'-])([0-9]{1,3}+)s\.", _say_shillings, _DIGITS_AND_SIGNS),
    make_rule("pence", r"(?<![\w.,/'-])([0-9]{1,2}+[½¼¾]?|[½¼¾])d\b\.?", _say_pence_alone, _DIGITS_AND_SIGNS),
    make_rule(
        "rupees",
        rf"(?<![\w.,/-])(?P<before>{AMOUNT}) Rs\b\.?|\bR[se]\.? ?(?P<after>{AMOUNT})(?!\w)",
        _say_rupees,
        "R",
    ),
)
