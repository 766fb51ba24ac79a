"""What must never happen between a manuscript and its chunks, for any text."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.engines.base import EngineSpec, with_stop
from pipeline.engines.piper import PiperFrontend
from pipeline.engines.tone import ToneFrontend
from pipeline.manuscript.book import Block, Book, Chapter, Kind, Span
from pipeline.script.script import Boundary, Script, TextSpan
from pipeline.script.splitter import CUT_IN_WORD, SHORT_ALONE, halve, is_speakable, num_words
from pipeline.script.write import ScriptRules, write_script
from pipeline.voices import read_voice

BUDGET = 50
RULES = ScriptRules(max_tokens=BUDGET, min_words=3, voice_digest="v", seed=0)


class ByteFrontend(ToneFrontend):
    """A token a byte beyond ASCII, a token every four letters: as mean as a real vocabulary can be."""

    spec = EngineSpec("bytes", "1", "bytes", 24_000)

    def num_tokens(self, prepared: str) -> int:
        return sum(1 if ord(char) < 128 else len(char.encode()) for char in prepared) // 2


FRONTENDS = [ToneFrontend(), PiperFrontend(read_voice("joe")), ByteFrontend()]


def book_of(*blocks: Block | str, title: str = "One") -> Book:
    made = tuple(
        block if isinstance(block, Block) else Block(Kind.PARAGRAPH, block, Span("a.txt", "", 0, len(block)))
        for block in blocks
    )
    return Book("A Book", ("Nobody",), "en", (Chapter(1, title, made),))


def block(kind: Kind, text: str = "", continues: bool = False) -> Block:
    return Block(kind, text, Span("a.txt", "", 0, len(text)), continues)


def script_of(*blocks: Block | str, frontend: ToneFrontend | None = None, rules: ScriptRules = RULES) -> Script:
    return write_script(book_of(*blocks), rules, frontend or ToneFrontend())


def texts(script: Script) -> list[str]:
    return [chunk.text for chunk in script.chapters[0].chunks]


any_text = st.text(st.characters(exclude_categories=["Cs"]), max_size=400)
wordy = st.lists(
    st.sampled_from(
        [
            "one",
            "two,",
            "three;",
            "Four.",
            "“five!”",
            "Mr.",
            "(six)",
            "seven—eight",
            "9",
            "a.b.c.d",
            "…",
            "—",
            "Oh.",
            "*",
            "x" * 60,
            "é" * 30,
            "👩‍👩‍👧" * 12,
            "z\u0301" * 40,
            "\n",
        ]
    ),
    max_size=90,
).map(" ".join)
kinds = st.sampled_from([*Kind])
blocks = st.lists(st.builds(block, kinds, any_text | wordy, st.booleans()), max_size=6)


@settings(max_examples=300, deadline=None)
@given(blocks, st.sampled_from(FRONTENDS))
def test_every_character_is_in_one_chunk_or_listed_and_no_chunk_is_over_budget(blocks, frontend):
    blocks = [replace(b, text="") if b.kind is Kind.BREAK else b for b in blocks]
    chapter = write_script(book_of(*blocks), RULES, frontend).chapters[0]
    spans: list[TextSpan] = [span for chunk in chapter.chunks for span in chunk.spans]
    assert spans == sorted(spans, key=lambda span: (span.block, span.start)), "in order"
    dropped = [piece.span for piece in chapter.unspoken]
    for number, spoken in enumerate(chapter.spoken):
        covered = sorted((s.start, s.end) for s in [*spans, *dropped] if s.block == number)
        at = 0
        for start, end in covered:
            assert start == at, "once, without a hole"
            at = end
        assert at == len(spoken)
    for piece in chapter.unspoken:
        assert not is_speakable(piece.text)
        assert chapter.spoken[piece.span.block][piece.span.start : piece.span.end] == piece.text
    for chunk in chapter.chunks:
        assert frontend.num_tokens(chunk.prepared) == chunk.num_tokens < BUDGET
        said = "".join(chapter.spoken[s.block][s.start : s.end] for s in chunk.spans)
        assert letters(chunk.text) == letters(said)
        assert is_speakable(chunk.text)


def letters(text: str) -> str:
    return "".join(char for char in text if char.isalnum())


@settings(max_examples=200, deadline=None)
@given(any_text | wordy, st.sampled_from(FRONTENDS))
def test_a_word_is_cut_only_if_it_alone_reaches_the_budget(text, frontend):
    chapter = write_script(book_of(text), RULES, frontend).chapters[0]
    spoken = chapter.spoken[0]
    for chunk in chapter.chunks:
        for span in chunk.spans:
            for at in (span.start, span.end):
                inside = 0 < at < len(spoken) and not spoken[at - 1].isspace() and not spoken[at].isspace()
                mark = (at > 0 and not spoken[at - 1].isalnum()) or (at < len(spoken) and not spoken[at].isalnum())
                if not inside or mark:
                    continue
                word = word_at(spoken, at)
                assert frontend.num_tokens(frontend.prepare(word, Boundary.CLAUSE)) + 1 >= BUDGET
                assert CUT_IN_WORD in chunk.findings


def word_at(text: str, at: int) -> str:
    start, end = at, at
    while start > 0 and not text[start - 1].isspace():
        start -= 1
    while end < len(text) and not text[end].isspace():
        end += 1
    return text[start:end]


def test_sentences_of_one_paragraph_are_packed_and_those_of_two_are_not():
    assert texts(script_of("One is here. Two is there. Three is near.", "Four is far away.")) == [
        "One is here. Two is there. Three is near.",
        "Four is far away.",
    ]


def test_a_long_sentence_is_cut_at_its_clauses_and_keeps_case_and_comma():
    clause = "the wind went round and round the house all night"
    sentence = ", ".join([clause] * 6) + "."
    chunks = script_of(sentence).chapters[0].chunks
    assert len(chunks) > 1
    assert " ".join(chunk.text for chunk in chunks) == sentence
    for chunk in chunks[:-1]:
        assert chunk.ends is Boundary.CLAUSE
        assert chunk.prepared.endswith(","), "no full stop where there is none"
        assert chunk.prepared.startswith("the wind")
    assert chunks[-1].ends is Boundary.CHAPTER


@pytest.mark.parametrize("comma", [",", ""])
def test_a_sentence_of_119_words_is_spoken_whole_with_commas_and_without(comma):
    sentence = f"{comma} ".join(["it was the day of all days"] * 17) + "."
    script = script_of(sentence)
    assert " ".join(texts(script)) == sentence
    assert all(chunk.num_tokens < BUDGET for chunk in script.chunks)


def test_a_chunk_never_starts_with_a_mark_that_belongs_before_it():
    clause = "in the year of grace of the old king who never came back —, and"
    for text in texts(script_of(" ".join([clause] * 6), "— Well, I never saw him again.")):
        assert text[0].isalpha(), text
    assert texts(script_of("-ness is the ending that she missed."))[0].startswith("-")


def test_a_comma_inside_a_number_and_a_colon_inside_a_time_are_no_clauses():
    sentence = " ".join(["at 3:30 the sum was 12,000,000,000,000,000,000 or so"] * 6)
    for text in texts(script_of(sentence)):
        assert not text.endswith((":", "000")), text


def test_short_paragraphs_ride_with_the_next_and_a_heading_never():
    script = script_of(
        block(Kind.HEADING, "II"),
        "Pause.",
        "Yes.",
        "Oh.",
        "No!",
        "And then the rain came down.",
        block(Kind.HEADING, "III"),
    )
    assert [text.lower() for text in texts(script)] == [
        "two", "pause. yes. oh.", "no! and then the rain came down.", "three",
    ]  # fmt: skip
    assert [chunk.ends for chunk in script.chunks] == [
        Boundary.HEADING, Boundary.PARAGRAPH, Boundary.PARAGRAPH, Boundary.CHAPTER,
    ]  # fmt: skip


def test_a_short_last_paragraph_rides_with_the_one_before():
    assert texts(script_of("And then the rain came down.", "Yes.")) == ["And then the rain came down. Yes."]


def test_a_short_paragraph_with_nobody_beside_it_is_spoken_alone_and_found():
    script = script_of("One two three four.", block(Kind.BREAK), "Yes.", block(Kind.BREAK), "Five six seven eight.")
    assert texts(script) == ["One two three four.", "Yes.", "Five six seven eight."]
    assert script.chunks[1].findings == (SHORT_ALONE,)
    assert [chunk.ends for chunk in script.chunks] == [Boundary.SCENE, Boundary.SCENE, Boundary.CHAPTER]


def test_a_short_sentence_rides_even_when_its_neighbour_is_full():
    full = ", ".join(["so the old clock went on and on"] * 6) + "."
    assert ToneFrontend().num_tokens(full) in range(46, 56)
    for text in texts(script_of(full + " Yes.")):
        assert num_words(text) >= 3


def test_a_paragraph_of_one_word_without_a_stop_gets_one_where_another_follows():
    assert texts(script_of("Yes", "And then the rain came down.")) == ["Yes. And then the rain came down."]


def test_marks_alone_are_never_spoken_and_listed():
    script = script_of("One two three.", ".", "* * *", "“…”", "Four five six.")
    assert texts(script) == ["One two three.", "Four five six."]
    assert [piece.text for piece in script.chapters[0].unspoken] != []


def test_verse_lines_are_read_on_within_their_stanza():
    script = script_of(
        block(Kind.VERSE, "The sea is high tonight,"),
        block(Kind.VERSE, "and no one is at home.", continues=True),
        block(Kind.VERSE, "The lamp is out tonight."),
    )
    assert texts(script) == ["The sea is high tonight, and no one is at home.", "The lamp is out tonight."]
    assert [span.block for span in script.chunks[0].spans] == [0, 1]


def test_the_key_follows_the_sound_and_nothing_else():
    base = script_of("One two three.", "One two three.", "Four five six.").chunks
    assert base[0].key != base[1].key, "the second time is another take"
    moved = script_of(block(Kind.HEADING, "A title"), "One two three.", "One two three.", "Four five six.").chunks
    assert [c.key for c in moved[1:]] == [c.key for c in base]
    for change in ({"voice_digest": "w"}, {"seed": 1}, {"sampling": {"noise_scale": 0.5}}):
        other = script_of("One two three.", rules=replace(RULES, **change)).chunks
        assert other[0].key != base[0].key, change


def test_an_edited_sentence_changes_the_chunks_of_its_paragraph_alone():
    first = "The first of them was old. " * 12
    before = script_of(first, "A second paragraph is here.", "A third one is there.").chunks
    after = script_of(first, "A second paragraph was here.", "A third one is there.").chunks
    changed = [a.text for a, b in zip(before, after, strict=True) if a.key != b.key]
    assert changed == ["A second paragraph is here."]


def test_a_chunk_is_halved_at_a_sentence_then_a_clause_then_a_word():
    assert halve("One is here. Two is there.", "en") == ("One is here.", "Two is there.", Boundary.SENTENCE)
    assert halve("one is here, two is there.", "en") == ("one is here,", "two is there.", Boundary.CLAUSE)
    assert halve("one is here.", "en") == ("one is", "here.", Boundary.CLAUSE)
    assert halve("One.", "en") is None


@pytest.mark.parametrize(
    ("text", "stopped"),
    [
        ("Chapter One", "Chapter One."),
        ("Wait—", "Wait."),
        ("“and then,”", "“and then.”"),
        ("Done.", "Done."),
        ("“Done!”", "“Done!”"),
        ("Well…", "Well…"),
        ("(see above)", "(see above.)"),
    ],
)
def test_a_text_without_a_stop_gets_one(text, stopped):
    assert with_stop(text) == stopped
    assert with_stop(stopped) == stopped


def test_piper_counts_tokens_as_nltk_does():
    from nltk.tokenize import wordpunct_tokenize

    frontend = PiperFrontend(read_voice("joe"))
    for text in ("“Don't!” he said -- twice... (3.14)", "", "a\nb\tc — d_e"):
        assert frontend.num_tokens(text) == len(wordpunct_tokenize(text))
