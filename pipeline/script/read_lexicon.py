"""Lexicon files, strictly read: YAML of `word: respelling`, or W3C PLS (`pls.py`). Their manual is docs/lexicon.md."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import regex
from pydantic import BeforeValidator, Field

from pipeline.errors import ConfigError
from pipeline.script.expressions import compile_expression, find_fault
from pipeline.script.lexicon import Case, Entry, Lexicon
from pipeline.script.pls import read_pls
from pipeline.strict_yaml import Lines, Strict, check, raise_faults, read_tree

_NOT_SOUNDS = "[]⟦⟧/"

_Names = Annotated[
    tuple[str, ...],
    Field(min_length=1),
    BeforeValidator(lambda value: value if isinstance(value, list) else [value]),
]


class EntryKeys(Strict):
    """What may be said of a word beside how it is said."""

    say: str | None = None
    ipa: str | None = None
    case: Case | None = None
    part: bool = False
    regex: bool = False
    voices: _Names = ()
    engines: _Names = ()


def own_lexicon() -> Path | None:
    """The user's own lexicon, if there is one: `$RENDER_BOOK_LEXICON`, else `lexicon.yaml` in the config folder.

    That variable, empty, stands for none.
    """
    named = os.environ.get("RENDER_BOOK_LEXICON")
    if named is not None:
        return Path(named) if named else None
    config = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    path = Path(config) / "render-book" / "lexicon.yaml"
    return path if path.exists() else None


def read_lexicons(paths: Sequence[Path]) -> Lexicon:
    """Several files as one lexicon: a word that stands in more than one is said as the last of them says.

    Raises `ConfigError` as `read_lexicon` does.
    """
    read = [read_lexicon(path) for path in paths]
    return Lexicon(
        tuple(entry for one in read for entry in one.entries), tuple(note for one in read for note in one.notes)
    )


def read_lexicon(path: Path) -> Lexicon:
    """Return the lexicon that a file holds: PLS where its name ends in `.pls`, else YAML, read as strings.

    An empty YAML file is an empty lexicon. Raises `ConfigError`, which names all faults at once as
    `file:line: message`; and where the file can't be read or isn't what its name says.
    """
    if path.suffix.lower() == ".pls":
        return read_pls(_read_bytes(path), str(path))
    tree, lines, faults = read_tree(path)
    lines_of: dict[str, Lines] = {}
    for location, line in lines.items():
        if location:
            lines_of.setdefault(str(location[0]), {})[location[1:]] = line
    entries = []
    for word, said in tree.items():
        try:
            entries.append(_read_entry(word, said, lines_of[word]))
        except ConfigError as error:
            faults += str(error).splitlines()
    raise_faults(faults)
    return Lexicon(tuple(entries))


def _read_bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise ConfigError(f"There is no such file as {path}: check the path.") from None
    except OSError as error:
        raise ConfigError(f"{path} can't be read ({error.strerror or error}); check the path.") from None


def _read_entry(word: str, said: Any, lines: Lines) -> Entry:
    """One key of a file and its value. `lines` are by the places within the value."""
    place = lines[()]
    if not word.strip():
        raise ConfigError(f"{place}: a word must be a string that isn't empty")
    if not isinstance(said, Mapping):
        said = {"say": said}
        if not isinstance(said["say"], str) or not said["say"].strip():
            raise ConfigError(f"{place}: the respelling of {word!r} must be a string that isn't empty")
    keys = check(EntryKeys, dict(said), lines, ())
    entry = Entry(
        word=word if keys.regex else unicodedata.normalize("NFC", " ".join(word.split())),
        say=(keys.say or "").strip(),
        ipa=_bare_sounds(keys.ipa or ""),
        case=keys.case or "smart",
        is_part=keys.part,
        is_regex=keys.regex,
        voices=keys.voices,
        engines=keys.engines,
        place=place,
    )
    raise_faults([f"{lines.get((key,), place)}: {fault}" for key, fault in _find_faults(entry, keys)])
    return entry


def _find_faults(entry: Entry, keys: EntryKeys) -> list[tuple[str, str]]:
    """What is wrong with an entry, each by the key that says it."""
    faults = []
    if keys.say is None and keys.ipa is None:
        faults.append(("", f"{entry.word!r} has neither `say` nor `ipa`; write how it is said"))
    values = {"say": [keys.say], "ipa": [keys.ipa], "voices": entry.voices, "engines": entry.engines}
    for name, said in values.items():
        if any(value is not None and not value.strip() for value in said):
            faults.append((name, f"{name}: is empty; write a value, or leave the key out"))
    if any(char in _NOT_SOUNDS for char in entry.ipa):
        faults.append(("ipa", f"ipa: must be sounds alone, such as ˈkrævɛk, not {entry.ipa!r}"))
    if entry.is_regex:
        faults += _find_faults_of_expression(entry, keys)
    return faults


def _find_faults_of_expression(entry: Entry, keys: EntryKeys) -> list[tuple[str, str]]:
    faults = []
    if entry.is_part:
        faults.append(
            ("part", r"part: an expression says itself where it begins and ends; write \b there for whole words")
        )
    if keys.case == "smart":
        faults.append(("case", "case: must be 'any' or 'exact' for an expression"))
    try:
        pattern = compile_expression(entry.word, entry.case)
    except regex.error as error:
        return [*faults, ("", f"{entry.word!r} is no regular expression: {error}")]
    except RecursionError:
        return [*faults, ("", f"{entry.word[:40]!r} is no regular expression: its brackets are too deep")]
    if pattern.search(""):
        faults.append(("", f"{entry.word!r} matches nothing at all, so anywhere; let it match at least one character"))
    if fault := find_fault(entry.say, pattern):
        faults.append(("say", f"say: {fault}"))
    return faults


def _bare_sounds(ipa: str) -> str:
    """Sounds without the strokes or brackets that dictionaries put around them."""
    ipa = " ".join(ipa.split())
    for begin, end in ("//", "[]"):
        if len(ipa) > 2 and ipa.startswith(begin) and ipa.endswith(end):
            ipa = ipa[1:-1].strip()
    return ipa
