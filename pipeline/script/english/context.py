"""What is known of the words around a place in an English text."""

from __future__ import annotations

import re
from collections.abc import Mapping

from pipeline.script.english.calendar import FULL_WEEKDAYS, MONTH
from pipeline.script.rules import any_of, text_after

_STARTERS = """
    The A An He She It They We You I His Her Their My Our Your Its This That These Those There Then But And Or So If
    When While What Why Who Whose How Where As At In On For From With By After Before Not No Yes Now Only Even Still
    Yet Every Each Both Some Many Most Once Here Because Since Although Though However Meanwhile Perhaps Did Do Does
    Was Were Is Are Had Has Have Could Would Will Let Nobody Nothing Everyone Everything Someone Later Soon Just Well
    Oh Ah Never Which Under Over Until Unless Such Nor To Of Another Behind Beside Between Through Without Within
    Outside Inside Upon Across Suddenly Finally Instead Today Tonight Tomorrow Yesterday Again Thus Therefore Can
    Should Might Must May Please Maybe Don't I'm I'd I've I'll It's That's He's She's They're We're You're There's
""".split()
STARTER = rf"(?:{any_of(_STARTERS)})(?![\w'])"

VERB = (
    r"(?:was|is|were|am|have|had|has|will|would|shall|should|can|could|may|might|must|do|did|don't|didn't|never|always|"
    r"think|thought|know|knew|see|saw|went|go|came|come|said|say|told|tell|read|wrote|write|feel|felt|want|wanted|like|"
    r"liked|love|loved|hate|hated|need|needed|got|get|found|find|made|make|took|take|gave|give|hope|wish|left|"
    r"lost|just|only|also|too|played|play|once|first|heard|ever|really|mean|meant|fear|believe|believed|suppose|used|"
    r"still|[a-z]+ed|'[a-z]+)\b"
)
"""What follows the pronoun I rather than the number of a king or a book."""

DETERMINER = "an?|the|his|her|my|your|their|our|its|that|this|each|every|another|one|single"

_AT_END = re.compile(r"(?P<closes>[\"')\]]*)\Z")
_CAPITAL = re.compile(r"[\"')\]]*\s+[\"'(\[]*[A-ZÀ-Þ]")
_STARTER = re.compile(rf"[\"')\]]*\s+[\"'(\[]*(?P<word>{STARTER})")
_SPEECH = re.compile(r"[\"')\]]*\s+[\"'(\[]+[A-ZÀ-Þ]")
_GOES_ON = re.compile(rf"\s+(?:{MONTH}|{FULL_WEEKDAYS}|Eastern|Pacific|Central|Mountain|Greenwich|[A-Z]{{3,4}})\b")
_NUM_WORDS_SENTENCE = 4


def keep_stop(match: re.Match[str], *, before_any_capital: bool = True) -> str:
    """The stop of an abbreviation, if a sentence ends with it, else nothing.

    One does before a capital; or, where names follow the abbreviation too (U.S. Army), only before a word that begins
    sentences. At the end of a text one does, unless the text is a mere label of up to three words ("44 B.C.").
    """
    after = text_after(match)
    end = _AT_END.match(after)
    if end:
        is_short = match.string.count(" ", 0, match.start()) < _NUM_WORDS_SENTENCE - 1
        return "" if is_short and not end["closes"] else "."
    if before_any_capital:
        return "." if _CAPITAL.match(after) and not _GOES_ON.match(after) else ""
    return "." if _STARTER.match(after) or _SPEECH.match(after) else ""


def spell(letters: str, stop: str, match: re.Match[str]) -> str:
    """Letters said one by one, and a stop; together where a sentence follows, for "B C. They" looks like initials."""
    return letters + stop if stop and text_after(match)[:1] else " ".join(letters) + stop


def like_case(written: str, said: str) -> str:
    """`said` with the capital that `written` begins with."""
    return said[:1].upper() + said[1:] if written[:1].isupper() else said


def with_capitals(table: Mapping[str, str]) -> dict[str, str]:
    """What is said for abbreviations, also where they stand in capitals: CAPT. for Capt."""
    return {**table, **{word.upper(): said for word, said in table.items()}}
