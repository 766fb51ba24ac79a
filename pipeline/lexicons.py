"""The lexicons of a job: read for the voice that reads the book, and what came of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from pipeline.engines import registry
from pipeline.engines.base import Frontend
from pipeline.errors import ConfigError
from pipeline.job import BookJob
from pipeline.script.lexicon import Entry, Lexicon, name_some
from pipeline.script.read_lexicon import own_lexicon, read_lexicons
from pipeline.script.script import Script
from pipeline.voices import Voice, voice_names


def open_lexicon(job: BookJob, voice: Voice, frontend: Frontend, language: str) -> Lexicon:
    """The lexicons of a job as one, for the voice that reads. A voice that nobody here knows is noted."""
    lexicon = read_lexicons(job.lexicons)
    voices, engines = {*voice_names(), voice.name}, registry.engine_names()
    notes = []
    for entry in lexicon.entries:
        for engine in sorted(set(entry.engines) - set(engines)):
            raise ConfigError(f"{entry.place}: there is no engine {engine!r}: choose from {', '.join(engines)}.")
        for name in sorted(set(entry.voices) - voices):
            notes.append(f"{entry.place}: no voice here is called {name!r}; `render-book voices` lists them.")
    chosen = lexicon.choose(voice.name, voice.engine, takes_ipa=frontend.spec.takes_ipa, language=language)
    return replace(chosen, notes=(*notes, *chosen.notes))


def say_of_lexicons(paths: Sequence[Path], lexicon: Lexicon, unused: Sequence[Entry]) -> Iterator[str]:
    """A note a file: how many of its words the book holds, and some that it doesn't."""
    own = own_lexicon()
    for path in paths:
        num_entries = sum(entry.file == str(path) for entry in lexicon.entries)
        missing = [entry for entry in unused if entry.file == str(path)]
        note = f"lexicon {path}"
        if own and path.resolve() == own.resolve():
            note += " (your own: --no-user-lexicon leaves it out, and a job that is submitted to Ray never reads it)"
        note += f": {num_entries - len(missing)} of {num_entries} words are in the book"
        yield note + (f"; not {name_some(missing)}." if missing else ".")


def find_unused(lexicon: Lexicon, script: Script) -> tuple[Entry, ...]:
    """The entries whose words the chapters that are read don't hold."""
    rewritings = (one for chapter in script.chapters if chapter.kept for block in chapter.rewritings for one in block)
    return tuple(lexicon.unused(lexicon.find_used(one.rule for one in rewritings)))
