"""Which way quotation marks look."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.script.quotes import direct_quotes

CASES = [
    ('"Stop!" he said. "Now."', "“Stop!” he said. “Now.”"),
    ("'Stop!' he said. 'Don't.'", "‘Stop!’ he said. ‘Don’t.’"),
    ("\"He cried, 'Go!'\" She left.", "“He cried, ‘Go!’” She left."),
    ("\" 'Never.' \" He wept.", "“ ‘Never.’ ” He wept."),
    ('"I—" he began. —"What?"', "“I—” he began. —“What?”"),
    ("the boys' boat", "the boys’ boat"),
    ("„Ja“, sagte er. »Nein«", "“Ja”, sagte er. “Nein”"),
    ("”Ja”, sade han.", "“Ja”, sade han."),
    ('" Oui ? " dit-il. " Non. "', "“ Oui ? ” dit-il. “ Non. ”"),
    ('"No end\n\n" Oui. "', "“No end\n\n“ Oui. ”"),
    ("“ ‘Never.’ ”12", "“ ‘Never.’ ”12"),
    ('"Go."Then he left.', "“Go.”Then he left."),
]


@pytest.mark.parametrize(("text", "directed"), CASES)
def test_marks_look_towards_what_they_quote(text: str, directed: str) -> None:
    assert direct_quotes(text) == directed


@given(st.text(alphabet="\"'“”‘’„«» a.—\n"))
def test_nothing_but_marks_changes(text: str) -> None:
    directed = direct_quotes(text)
    assert len(directed) == len(text)
    assert all(new == old or (old in "\"'“”‘’„«»" and new in "“”‘’") for old, new in zip(text, directed, strict=True))
