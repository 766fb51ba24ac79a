"""The lexicon: whole words, longest first, once, on the text as written and again as spoken."""

from __future__ import annotations

import re
import unicodedata
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.errors import ConfigError
from pipeline.script.lexicon import Entry, Lexicon, respell
from pipeline.script.rewriting import Rewriting, rewrite


def lexicon(**entries: str) -> Lexicon:
    return Lexicon(tuple(Entry(word, say) for word, say in entries.items()))


def one(word: str, say: str = "", **said: Any) -> Lexicon:
    return Lexicon((Entry(word, say, place="names.yaml:1", **said),))


@pytest.mark.parametrize(
    ("word", "respelling", "text", "respelt"),
    [
        ("gif", "jiff", "A gif, GIF and gifts. Gif!", "A jiff, Jiff and gifts. Jiff!"),
        ("Polish", "Poh-lish", "Polish the polish. POLISH", "Poh-lish the polish. Poh-lish"),
        ("Cravech", "kravvek", "Cravech’s, Cravech'll", "Kravvek’s, Kravvek'll"),
        ("Cravech", "Kravvek", "CRAVECH’S HAT", "Kravvek’S HAT"),
        ("don", "dawn", "don, don't, don’t", "dawn, don't, don’t"),
        ("Artagnan", "Artanyan", "d'Artagnan, Artagnan", "d'Artagnan, Artanyan"),
        ("o'clock", "oh clock", "six o’clock", "six oh clock"),
        ("New York", "Noo Yawk", "New\nYork New Yorker New\u00a0York", "Noo Yawk New Yorker Noo Yawk"),
        ("C++", "C plus plus", "C++ or C+", "C plus plus or C+"),
        ("a.b", "dot", "a.b axb", "dot axb"),
        (".net", "dot net", ".NET, x.NET", "dot net, x.NET"),
        ("'em", "them", "with ’em, get'em", "with them, get'em"),
        ("well-met", "wellmet", "well-met well met well\u2011met", "wellmet well met wellmet"),
        ("Dr. Foo", "Doctor Foo", "Dr. Foo’s Dr. Food", "Doctor Foo’s Dr. Food"),
        ("X-15", "ex fifteen", "The X-15, X-155, AX-15", "The Ex fifteen, X-155, AX-15"),
    ],
)
def test_whole_words_are_respelt(word: str, respelling: str, text: str, respelt: str) -> None:
    assert lexicon(**{word: respelling}).apply(text) == respelt


@pytest.mark.parametrize(
    ("text", "is_said"),
    [
        ("in 24.", True), ("24, 25", True), ("24’s", True), ("24-hour", True), ("24,000", False), ("24.5", False),
        ("1,024", False), ("3.24", False), ("$24", False), ("24%", False), ("24th", False), ("10–24", False),
        ("24:30", False), ("#24", False), ("24/7", False),
    ],
)  # fmt: skip
def test_a_number_is_no_word_of_a_longer_one(text: str, is_said: bool) -> None:
    assert lexicon(**{"24": "two dozen"}).apply(text) == (text.replace("24", "two dozen") if is_said else text)


@pytest.mark.parametrize(
    ("word", "text", "num_found"),
    [
        ("Zoe", "Zoe\u0308 and Zoe", 1),  # a mark that combines makes another word
        ("Zoë", "Zoe\u0308 and Zoë and ZOE\u0308", 3),
        ("Zoe\u0308", "Zoë", 1),
        ("un", "un\u00adhappy un", 1),  # a hyphen that isn't seen is inside a word
        ("мир", "Мир, мира", 1),
        ("οδυσσευς", "ΟΔΥΣΣΕΥΣ", 1),
        ("हिन्दी", "हिन्दी हिन्दीका", 1),
        ("हिन्द", "हिन्दी", 0),
        ("東京", "東京都は東京", 2),  # no space parts words there
        ("gif", "このgifは", 1),
        ("กรุงเทพ", "อยู่กรุงเทพมาก", 1),
        ("שלום", "שלום!", 1),
        ("עולם", "שלום־עולם", 1),
    ],
)
def test_words_end_in_any_script(word: str, text: str, num_found: int) -> None:
    assert len(lexicon(**{word: "x"}).find(text)) == num_found


def test_the_longest_goes_first_and_nothing_is_respelt_again() -> None:
    both = lexicon(**{"york": "yawk", "new york": "york", "yawk": "wrong"})
    assert both.apply("new york, york") == "york, yawk"


def test_cases_as_the_entry_says() -> None:
    text = "us Us US"
    assert one("us", "uss", case="exact").apply(text) == "uss Us US"
    assert one("US", "u ess").apply(text) == "us Us U ess"
    assert one("US", "you", case="any").apply(text) == "you You You"


def test_a_part_of_a_word() -> None:
    assert one("mce", "mick", is_part=True).apply("McEwan and McEwen, Emce") == "Mickwan and Mickwen, Emick"


def test_an_expression_with_its_groups() -> None:
    miles = one(r"\b(\d+)\s?(?<unit>mi)\b", r"\1 \g<unit>les\\", is_regex=True)
    assert miles.apply("10mi, 5 mi, mid") == "10 miles\\, 5 miles\\, mid"
    assert one("KM", "kay", is_regex=True).apply("km KM") == "km kay"
    assert one("KM", "kay", is_regex=True, case="any").apply("km KM") == "kay kay"


def test_an_expression_that_never_ends_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pipeline.script.expressions.SEARCH_SECONDS", 0.1)
    endless = one(r"(?:a|a)*c", "x", is_regex=True)
    with pytest.raises(ConfigError, match=r"names.yaml:1: .*takes more than 0.1 s for one paragraph"):
        endless.find("a" * 60 + "bc")


def test_an_expression_that_matches_nothing_somewhere_is_named() -> None:
    with pytest.raises(ConfigError, match=r"names.yaml:1: .* matches nothing"):
        one(r"\b", "x", is_regex=True).find("a word")
    with pytest.raises(ConfigError, match=r"names.yaml:1: nothing would be said for 'b'"):
        one(r"(a)?b", r"\1", is_regex=True).find("b")


def test_the_nearer_of_two_for_a_word_counts() -> None:
    both = Lexicon((Entry("gif", "far"), Entry("GIF", "farther"), Entry("gif", "near")))
    assert both.choose("alba", "pocket").apply("gif GIF") == "near Near"


@pytest.mark.parametrize("is_word_nearer", [True, False])
def test_of_a_word_and_an_expression_as_long_the_nearer_counts(is_word_nearer: bool) -> None:
    entries = [Entry("gi.", "expression", is_regex=True), Entry("gif", "word")]
    made = Lexicon(tuple(entries if is_word_nearer else reversed(entries)))
    assert made.apply("gif") == ("word" if is_word_nearer else "expression")


def test_the_time_of_other_threads_is_not_an_expressions(monkeypatch: pytest.MonkeyPatch) -> None:
    """The package's clock is the whole process's: beside a busy model it runs out long before the search does."""

    class Hurried:
        def finditer(self, text: str, timeout: float) -> list[Any]:
            if timeout < 5:
                raise TimeoutError
            return []

    monkeypatch.setattr("pipeline.script.lexicon.compile_expression", lambda *_: Hurried())
    assert one("a", "b", is_regex=True).find("a") == ()


def test_entries_for_some_voices_and_engines() -> None:
    entries = Lexicon(
        (Entry("Foo", "all"), Entry("Foo", "joe", voices=("joe",)), Entry("Bar", "pocket", engines=("pocket",)))
    )
    assert entries.choose("joe", "piper").apply("Foo Bar") == "Joe Bar"
    assert entries.choose("alba", "pocket").apply("Foo Bar") == "All Pocket"


def test_sounds_go_to_engines_that_take_them() -> None:
    entries = Lexicon(
        (Entry("Foo", "far"), Entry("Foo", ipa="fuː bɑː", place="n.yaml:2"), Entry("Bax", "bacs", "bæks"))
    )
    taking = entries.choose("joe", "piper", takes_ipa=True)
    assert taking.apply("Foo’s Foo'll Bax’s") == "⟦fuː⟧ ⟦bɑːz⟧ ⟦fuː⟧ ⟦bɑːəl⟧ ⟦bæksɪz⟧"
    assert taking.apply("FOO’S") == "⟦fuː⟧ ⟦bɑːz⟧" == taking.apply("Foo’s")
    assert taking.notes == ()
    other = entries.choose("alba", "pocket")
    assert other.apply("Foo’s Bax") == "Far’s Bacs"
    assert other.notes == ("lexicon n.yaml: 'Foo' (line 2) not used: pocket takes no ipa, and there is no `say`.",)


def test_another_language_is_noted() -> None:
    entries = Lexicon((Entry("chat", "shah", language="fr", place="fr.pls:3"), Entry("gif", "jiff", language="en-GB")))
    chosen = entries.choose("alba", "pocket", language="en_US")
    assert [entry.word for entry in chosen.entries] == ["gif"]
    assert chosen.notes == ("lexicon fr.pls: not used, its 1 words are for the language fr, and the book's is en_US.",)


def test_rewritings_say_where_and_why() -> None:
    assert lexicon(gif="jiff").find("A gif.") == (Rewriting("lexicon: gif", 2, 5, "jiff"),)


def test_entries_that_were_not_used_are_told() -> None:
    names = lexicon(**{"gif": "jiff", "a, b": "see", "b": "bee", "c": "sea"})
    used = names.find_used(["lexicon: gif", "dashes, lexicon: a, b, cardinals", "lexicon: nothing"])
    assert used == {"gif", "a, b"}
    assert [entry.word for entry in names.unused(used)] == ["b", "c"]


def test_what_is_kept_is_not_touched_and_hides_nothing() -> None:
    names = lexicon(**{"new york": "x", "york": "y"})
    assert names.find("new york york", [(0, 3)]) == (
        Rewriting("lexicon: york", 4, 8, "y"),
        Rewriting("lexicon: york", 9, 13, "y"),
    )


# With the rules of the spoken form


def speak(text: str) -> list[Rewriting]:
    """Rules enough to get in the way of a lexicon: numbers, titles, dashes, and white space."""
    said = {"Dr.": "Doctor", "15": "fifteen", "1984": "one thousand", "—": " — ", "www.gif.org": "w gif org"}
    return [
        Rewriting("rule", match.start(), match.end(), said.get(match[0], " "))
        for match in re.finditer(r"Dr\.|1984|15|—|\s{2,}|www[\w.]+", text)
    ]


@pytest.mark.parametrize(
    ("word", "say", "text", "said"),
    [
        ("1984", "nineteen eighty-four", "In 1984—or 15.", "In nineteen eighty-four — or fifteen."),
        ("X-15", "ex 15", "An X-15, 15.", "An Ex 15, fifteen."),  # what the lexicon says is left as it is
        ("Dr. Foo", "Doktor Foo", "Dr. Foo, Dr. Bar", "Doktor Foo, Doctor Bar"),
        ("doctor", "doktor", "Dr. Bar", "Doktor Bar"),  # a word that only stands in the spoken text
        ("fifteen", "fifty", "15 fifteen", "fifty fifty"),
        ("doctor", "Dr.", "A doctor, Dr. Bar", "A Dr., Dr. Bar"),
        ("New York", "x", "New  York  15", "X fifteen"),
        ("gif", "jiff", "A gif, www.gif.org, gif 15", "A jiff, w jiff org, jiff fifteen"),  # inside an address
        ("gif", "15", "www.gif.org", "w 15 org"),
    ],
)
def test_a_lexicon_and_the_rules(word: str, say: str, text: str, said: str) -> None:
    assert rewrite(text, respell(text, lexicon(**{word: say}), speak)) == said


_WORDS = st.sampled_from(["Dr.", "Foo", "15", "1984", "X-15", "—", "doctor", "new", "york", "’s", ",", "fifteen"])
_TEXTS = st.lists(st.tuples(_WORDS, st.sampled_from(["", " ", "  "])), max_size=12).map(
    lambda parts: "".join(word + gap for word, gap in parts)
)
_ENTRIES = st.dictionaries(
    st.lists(_WORDS, min_size=1, max_size=2).map(" ".join),
    st.sampled_from(["15", "Dr. Foo", "x", "york", "⟦a⟧"]),
    max_size=4,
)


@given(_ENTRIES, _TEXTS)
def test_what_the_lexicon_says_is_said(entries: dict[str, str], text: str) -> None:
    """Each word found as written is said as its entry says, whatever the rules make of what stands around it."""
    names = lexicon(**entries)
    said = respell(text, names, speak)
    assert list(said) == sorted(said, key=lambda one: one.start)
    assert all(a.end <= b.start for a, b in pairwise(said))
    for found in names.find(text):
        covering = [one for one in said if one.start <= found.start and found.end <= one.end]
        assert len(covering) == 1, "exactly one rewriting covers it"
        assert found.said in covering[0].said
        assert found.rule in covering[0].rule
    if not names.find(text) and not names.find(rewrite(text, speak(text))):
        assert said == tuple(speak(text))


@given(st.dictionaries(st.text(min_size=1).filter(str.strip), st.text(min_size=1), max_size=5), st.text())
def test_any_word_and_text_will_do(entries: dict[str, str], text: str) -> None:
    any_lexicon = lexicon(**entries)
    if not any_lexicon.find(text):
        assert any_lexicon.apply(text) == text
    any_lexicon.apply(text + next(iter(entries), ""))


@given(st.text(st.characters(categories=["L", "N"]), min_size=1, max_size=8))
def test_a_word_stands_for_itself_wherever_it_is_alone(word: str) -> None:
    composed, apart = unicodedata.normalize("NFC", word), unicodedata.normalize("NFD", word)
    assert len(lexicon(**{composed: "x"}).find(f"({composed}) {apart}, “{composed}.”")) >= 3


# How long it takes: a second, where one pattern for all took minutes


@pytest.mark.parametrize(
    "entries",
    [
        [Entry(f"name{number}", "x") for number in range(1000)],
        [Entry(rf"\bname{number}(\d*)\b", r"x \1", is_regex=True) for number in range(50)],
    ],
    ids=["words", "expressions"],
)
def test_a_long_lexicon_and_a_novel(entries: list[Entry]) -> None:
    made = Lexicon(tuple(entries))
    for first in range(500):
        found = made.find(" ".join(f"name{first + number} walked on, and on, and" for number in range(60)))
        assert len(found) == 60 or first > 0
