"""Two passes over a text as one."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from pipeline.script.rewriting import Rewriting, compose, rewrite


@st.composite
def rewritings(draw: st.DrawFn, length: int) -> list[Rewriting]:
    cuts = sorted(draw(st.lists(st.integers(0, length), max_size=8, unique=True)))
    if len(cuts) % 2:
        cuts.append(length)
    pairs = zip(cuts[::2], cuts[1::2], strict=True)
    return [
        Rewriting(draw(st.sampled_from("ab")), start, end, draw(st.text("xyz", max_size=3))) for start, end in pairs
    ]


@given(st.text("0123456789", max_size=12), st.data())
def test_two_passes_are_one(text: str, data: st.DataObject) -> None:
    first = data.draw(rewritings(len(text)))
    between = rewrite(text, first)
    second = data.draw(rewritings(len(between)))
    both = compose(text, first, second)
    assert rewrite(text, both) == rewrite(between, second)
    assert all(0 <= one.start <= one.end <= len(text) for one in both)
    assert all(one.end <= after.start for one, after in itertools.pairwise(both))


def test_each_keeps_its_place_and_rule() -> None:
    first = [Rewriting("currency", 3, 5, "five pounds")]
    second = [Rewriting("lexicon", 15, 20, "Kravvek")]
    assert compose("At £5 a Cravch", first, second) == (
        Rewriting("currency", 3, 5, "five pounds"),
        Rewriting("lexicon", 6, 11, "Kravvek"),
    )
    assert compose("Dr. X", [Rewriting("titles", 0, 3, "Doctor")], [Rewriting("lexicon", 0, 6, "Doc")]) == (
        Rewriting("titles, lexicon", 0, 3, "Doc"),
    )
