"""Names and oaths that a book leaves blank: Mr. D——, B——shire, the ——th regiment, d—n."""

from __future__ import annotations

import re

from pipeline.script.rules import make_rule

_OATHS = {
    "b y": "bloody",
    "d d": "damned",
    "d l": "devil",
    "d n": "damn",
    "d nation": "damnation",
    "d nd": "damned",
    "d ned": "damned",
    "d st": "damndest",
    "g d": "God",
    "h l": "hell",
}
"""By the letters that are left of them."""
_BEFORE_NAMES = (
    r"(?:M(?:r|rs|iss|s|me|lle|onsieur|adame|essrs)\.?|Lord|Lady|Sir|Captain|Capt\.|Count|Countess|Colonel|Col\.|"
    r"Doctor|Dr\.|General|Prince|Princess|Duke|Duchess|Baron|Major|Marquis|Earl|Dean|Bishop|Father|Professor|of|"
    r"at|in|to|from|near|called|certain|de|von)"
)
_LONG_DASH = "(?:——+|⸺)"
_ENDS = r"(?=[\s.,;:!?')\"]|\Z)"


def _say_initial(match: re.Match[str]) -> str | None:
    """Mr. D——, Lord M—: the blank is said; but "Sir I—" is cut off."""
    if match["x"] in ("I—", "I--"):
        return None
    return f"{match['letter']} blank"


def _say_oath(match: re.Match[str]) -> str | None:
    said = _OATHS.get(f"{match[1]} {match[2]}".lower())
    return said and (said.capitalize() if match[1].isupper() else said)


RULES = (
    # the —th of June
    make_rule("blank", r"(?<![\w'])(?:—+|⸺|--+)(?=th\b)", "blank", "—⸺-"),
    # ——shire
    make_rule("blank", rf"(?<![\w']){_LONG_DASH}(?=shire\b)", "Blank", "—⸺"),
    # B—shire, N--ville
    make_rule(
        "blank",
        r"(?<![\w'])(?P<x>[A-Z](?:—+|⸺|--+|_{3,})(?=(?:shire|ville|town|ham|burgh?|sky|berg)\b))",
        "Blank",
        "—⸺-_",
    ),
    # Mr. D—, Lady S--, a certain M____
    make_rule(
        "blank",
        rf"\b{_BEFORE_NAMES} (?P<x>(?P<letter>[A-Z])(?:—{{1,4}}|⸺|--{{1,3}}|_{{2,}})){_ENDS}",
        _say_initial,
        "—⸺-_",
    ),
    # D——; not A—— and I——, which are cut off
    make_rule("blank", rf"(?<![\w'])(?P<x>(?P<letter>[B-HJ-NP-Z]){_LONG_DASH}){_ENDS}", _say_initial, "—⸺"),
    # Mr. ——, the ——
    make_rule("blank", rf"\b(?:{_BEFORE_NAMES}|the) (?P<x>{_LONG_DASH})(?=[\s.,;:!?'th]|\Z)", "blank", "—⸺"),
    # d—n, d---d, H⸺l
    make_rule(
        "oath",
        r"(?<![\w'-])([dDhHbBgG])(?:—{1,2}|⸺|-{1,3}|–)(n|d|l|y|ned|nation|nd|st)(?![\w'-])",
        _say_oath,
        "—–-⸺",
    ),
)
