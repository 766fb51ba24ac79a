"""From a job to a plan: everything that can be known of a book before a model is loaded."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pipeline.engines import registry
from pipeline.errors import ManuscriptError, RenderBookError, UsageError
from pipeline.job import BookJob, parse_formats
from pipeline.lexicons import find_unused, open_lexicon, say_of_lexicons
from pipeline.manuscript import read_manuscript
from pipeline.manuscript.book import Book
from pipeline.manuscript.choose import choose_chapters
from pipeline.manuscript.reading import Reading
from pipeline.profile import Profile, read_profile
from pipeline.script.lexicon import Entry
from pipeline.script.listing import script_as_dict
from pipeline.script.proof import check_script
from pipeline.script.script import Script, ScriptChapter
from pipeline.script.write import ScriptRules, write_script
from pipeline.voices import Voice, read_voice


@dataclass(frozen=True, slots=True)
class Plan:
    """A job with everything that can be known of it before a model is loaded."""

    job: BookJob
    profile: Profile
    voice: Voice
    book: Book
    script: Script
    sampling: dict[str, float]
    formats: tuple[str, ...]
    folder: Path
    unused: tuple[Entry, ...] = ()
    """The entries of the lexicons that nothing in the book is said by."""

    def as_dict(self) -> dict[str, Any]:
        unused = [{"word": entry.word, "place": entry.place} for entry in self.unused]
        return script_as_dict(self.book, self.script, self.profile.gaps_ms.after) | {"unused_words": unused}

    @property
    def kept_chapters(self) -> list[ScriptChapter]:
        return [chapter for chapter in self.script.chapters if chapter.kept]

    @property
    def stem(self) -> str:
        """The m4b's name: some chapters of a book never take the place of the whole."""
        chapters = self.job.chapters
        return safe_name(self.book.title) + (f" ({_ranges(chapters)})" if chapters else "")


def _ranges(chapters: Sequence[int]) -> str:
    """(1, 2, 3, 7) as `1-3, 7`, shortened where there are many."""
    parts: list[list[int]] = []
    for index in chapters:
        if parts and index == parts[-1][-1] + 1:
            parts[-1] = [parts[-1][0], index]
        else:
            parts.append([index])
    text = ", ".join("-".join(map(str, part)) for part in parts)
    return text if len(text) <= 40 else text[:39] + "…"


def make_plan(job: BookJob) -> Plan:
    """Read, speak and split a manuscript; nothing is written. Raises every error a job can have."""
    book = read_manuscript(job.source, Reading(job.notes, job.as_book))
    profile = read_profile(job.config, job.settings)
    formats = parse_formats(job.formats or profile.deliver.formats)
    voice = choose_voice(job.voice, profile)
    for key in job.settings:
        if not key.startswith(f"engines.{voice.engine}."):
            name = key.rpartition(".")[2]
            has_own = hasattr(profile.engine(voice.engine), name)
            remedy = f"set engines.{voice.engine}.{name} in a profile (--config)" if has_own else "leave it out"
            flag = name.replace("_", "-")
            raise UsageError(f"--{flag} doesn't apply to the voice {voice.name} ({voice.engine}): {remedy}.")
    check_trace(job, voice, profile)
    frontend = registry.open_frontend(voice)
    sampling = profile.engine(voice.engine).sampling()
    # What the manuscript doesn't say: its file's name is its title, and the voice reads its own language.
    name = job.source.stem.encode(errors="replace").decode()  # a file's name may be no text
    book = replace(book, title=book.title or name, language=book.language or voice.language)
    book = choose_chapters(book, job.chapters, job.keep, job.drop)
    lexicon = open_lexicon(job, voice, frontend, book.language) if job.lexicons else None
    rules = ScriptRules(
        max_tokens=profile.script.max_tokens,
        min_words=profile.script.min_words,
        voice_digest=voice.digest,
        seed=job.seed,
        sampling=sampling,
        lexicon=lexicon,
    )
    script = write_script(book, rules, frontend)
    check_script(book, script)
    if not script.chunks:
        reasons = "; ".join(dict.fromkeys(chapter.reason for chapter in script.chapters if chapter.reason))
        raise ManuscriptError(
            f"{job.source} has nothing to say in the chapters that are read ({reasons}): choose others with --chapters."
        )
    folder = job.output or Path("output") / safe_name(book.title)
    unused = find_unused(lexicon, script) if lexicon else ()
    if lexicon:
        book = replace(book, notes=(*book.notes, *lexicon.notes, *say_of_lexicons(job.lexicons, lexicon, unused)))
    return Plan(job, profile, voice, book, script, sampling, formats, folder, unused)


def plan_books(books: Sequence[BookJob]) -> Iterator[tuple[BookJob, Plan | RenderBookError]]:
    """The plan of each book of a job, or why there is none; one at a time, since a library of them is large."""
    for book in books:
        try:
            yield book, make_plan(book)
        except RenderBookError as error:
            yield book, error


def check_trace(job: BookJob, voice: Voice, profile: Profile) -> None:
    """Whether the voice's engine has the trace that a job asks for. Raises `UsageError`."""
    if job.trace_eos and not profile.engine(voice.engine).traces_eos:
        raise UsageError(
            f"--trace-eos doesn't apply to the voice {voice.name} ({voice.engine}), which has no end of speech to "
            f"trace: leave it out (in a manifest, `trace_eos` of {job.source})."
        )


def choose_voice(name: str, profile: Profile) -> Voice:
    """A voice with what the profile says of its engine in place of its own options."""
    voice = read_voice(name)
    registry.check_engine(voice)
    return voice.using(profile.engine(voice.engine).voice_options())


def safe_name(title: str) -> str:
    """A title as a file name on any system: at most 80 characters, and never empty."""
    name = re.sub(r'[\x00-\x1f\x7f/\\:*?"<>|]+', " ", title)
    name = " ".join(name.split())[:80].strip(" .")
    while len(name.encode()) > 200:  # a file name may have 255 bytes
        name = name[:-1]
    return name or "book"


def find_chunk(script: Script, wanted: str) -> str:
    """The key of the one chunk whose id begins like this."""
    matches = [chunk.key for chunk in script.chunks if wanted and chunk.key.startswith(wanted)]
    if len(matches) == 1:
        return matches[0]
    problem = "several chunks" if matches else "no chunk"
    raise UsageError(
        f"{problem} of the book begin with {wanted!r}: `render-book plan --json` lists the ids.".capitalize()
    )
