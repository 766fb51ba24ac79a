"""Job manifests: a YAML file of many books to a `Job`, every fault told at once before any work starts.

The schema's validators look at the files that are named, too: what is wrong with a voice, a profile, a lexicon or
a source comes with the line of the manifest that names it.
"""

from __future__ import annotations

import contextlib
import difflib
import functools
import os
import re
import unicodedata
from collections.abc import Callable, Mapping
from datetime import time
from pathlib import Path, PurePath
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, ValidationInfo

from pipeline.engines import registry
from pipeline.errors import ConfigError, RenderBookError, UsageError
from pipeline.job import BookJob, Job, Workers, parse_chapters, parse_formats
from pipeline.manuscript.read import check_source
from pipeline.manuscript.reading import Notes
from pipeline.plan import safe_name
from pipeline.profile import read_profile
from pipeline.script.read_lexicon import own_lexicon, read_lexicon
from pipeline.strict_yaml import Lines, Strict, Tree, check, read_tree
from pipeline.voices import DEFAULT_VOICE, read_voice

_LOST = (
    "a job that is submitted to Ray runs in a folder that Ray removes; "
    "write an absolute path, on a disk of the driver's machine that stays"
)


class _Place:
    """Where a manifest lies: its relative paths begin here, and what they lead to is looked at once."""

    def __init__(self, folder: Path, is_submitted: bool) -> None:
        self.folder = folder
        self.is_submitted = is_submitted
        self._find_fault = functools.cache(_find_fault)

    def path(self, value: object) -> Path:
        """The path that a value stands for, absolute. Raises `ValueError`."""
        # Not pathlib's: it takes `./~x` for a home folder, too.
        text = os.path.expanduser(_text(value))  # noqa: PTH111
        if text.startswith("~"):
            raise ValueError(f"there is no home folder {text!r}; write the whole path, or ./{text}")
        if re.match(r"\w[\w+.-]+://", text):
            raise ValueError(f"{text!r} is a URL; write the path where it is mounted, or a copy's")
        return Path(os.path.normpath(self.folder / text))

    def check(self, read: Callable[[Any], object], what: object) -> None:
        """Whether what is named can be read. Raises `ValueError`."""
        if fault := self._find_fault(read, what):
            raise ValueError(fault)


def _place(info: ValidationInfo) -> _Place:
    assert isinstance(info.context, _Place)
    return info.context


def _find_fault(read: Callable[[Any], object], what: object) -> str:
    """What a reader has against a file, its own lines as they are; empty if nothing."""
    try:
        read(what)
    except RenderBookError as error:
        message = str(error)
        is_by_line = re.match(r"(?!There is ).+?:\d+: ", message)
        return f"has faults:\n{message}" if is_by_line else _as_fault(message)
    except OSError as error:
        return f"{what} can't be read ({error.strerror or error}); check the path"
    return ""


def _as_fault(sentence: str) -> str:
    return sentence[0].lower() + sentence[1:].rstrip(".")


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError("must be one value, not a list or keys")
    if not value.strip() or value.lower() in ("~", "null"):
        raise ValueError("is empty; write a value, or leave the key out")
    if re.search(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]", value):
        raise ValueError(f"{value!r} holds a character that can't be printed; remove it")
    return value


def _texts(value: object, between: str) -> list[str]:
    """A list, or one string that is a list as a flag takes it."""
    return [_text(item) for item in (value if isinstance(value, list) else _text(value).split(between))]


def _chapters(value: object) -> tuple[int, ...]:
    try:
        return parse_chapters(",".join(_texts(value, ",")), flag="")
    except UsageError as error:
        raise ValueError(_as_fault(str(error))) from None


def _names(value: object) -> tuple[str, ...]:
    """A list, or one name: a chapter's title may hold a comma."""
    return tuple(_text(item) for item in (value if isinstance(value, list) else [value]))


def _formats(value: object) -> tuple[str, ...]:
    try:
        return parse_formats(_texts(value, ","), flag="this")
    except UsageError as error:
        raise ValueError(_as_fault(str(error))) from None


def _voice(value: object, info: ValidationInfo) -> str:
    """A voice's name, or the path of its file."""
    name = _text(value)
    if name.endswith((".yaml", ".yml")):
        name = str(_place(info).path(name))
    _place(info).check(_read_voice, name)
    return name


def _read_voice(name: str) -> None:
    registry.check_engine(read_voice(name))


def _file(read: Callable[[Path], object]) -> BeforeValidator:
    def checked(value: object, info: ValidationInfo) -> Path:
        path = _place(info).path(value)
        _place(info).check(read, path)
        return path

    return BeforeValidator(checked)


def _source(value: object, info: ValidationInfo) -> Path:
    path = _place(info).path(value)
    _place(info).check(_check_folder if info.data.get("as_book") else check_source, path)
    return path


def _check_folder(path: Path) -> None:
    check_source(path, as_book=True)


def _output(value: object, info: ValidationInfo) -> Path:
    path = _place(info).path(value)
    if _place(info).is_submitted and not str(value).startswith(("/", "~")):
        raise ValueError(f"{value!r} would be lost: {_LOST}")
    try:
        there = next(folder for folder in (path, *path.parents) if folder.exists())
    except OSError as error:
        raise ValueError(f"{path} can't be used ({error.strerror or error}); choose another folder") from None
    if not there.is_dir():
        raise ValueError(f"{there} is a file; choose another folder")
    return path


def _engine(name: str) -> str:
    known = registry.engine_names()
    if name and name not in known:
        close = difflib.get_close_matches(name, known, n=1)
        hint = f"did you mean {close[0]}?" if close else f"choose from {', '.join(known)}"
        raise ValueError(f"there is no engine {name!r} ({hint})")
    return name


def _workers(value: object) -> object:
    """One value is for all engines, under the empty name."""
    if isinstance(value, dict) and "" in value:
        raise ValueError("an engine is without its name; write it before the colon")
    return {"": value} if isinstance(value, str) else value


def _time_of_day(value: object) -> time:
    match = re.fullmatch(r"([01]\d|2[0-3]):([0-5]\d)", _text(value), re.ASCII)
    if match is None:
        raise ValueError(f"must be a time of day such as 07:00, not {value!r}")
    return time(int(match[1]), int(match[2]))


def _ray(value: object) -> str:
    address = _text(value)
    if address != "auto" and not re.fullmatch(r"\S+:\d+", address):
        raise ValueError(f"must be auto or a cluster's address such as 10.0.0.5:6379, not {address!r}")
    return address


def _whole_above_one(value: float) -> float:
    if value > 1 and not value.is_integer():
        raise ValueError(f"must be whole above 1, not {value:g}: only one device can be shared")
    return value


_AUTO = BeforeValidator(lambda value: None if value == "auto" else value)
_Output = Annotated[Path, BeforeValidator(_output)]


class Defaults(Strict):
    """What may be said of every book."""

    voice: Annotated[str, BeforeValidator(_voice)] = DEFAULT_VOICE
    profile: Annotated[Path | None, _file(read_profile)] = None
    lexicons: Annotated[
        tuple[Annotated[Path, _file(read_lexicon)], ...],
        BeforeValidator(lambda value: [value] if isinstance(value, str) else value),
    ] = ()
    user_lexicon: bool = True
    chapters: Annotated[tuple[int, ...] | None, BeforeValidator(_chapters)] = None
    keep: Annotated[tuple[str, ...], BeforeValidator(_names)] = ()
    drop: Annotated[tuple[str, ...], BeforeValidator(_names)] = ()
    notes: Notes = "skip"
    formats: Annotated[tuple[str, ...] | None, BeforeValidator(_formats)] = None
    trace_eos: bool = False
    seed: int = Field(default=0, ge=0)
    priority: int = 0


class Book(Defaults):
    as_book: bool = False
    source: Annotated[Path, BeforeValidator(_source)]
    output: _Output | None = None


class EngineWorkers(Strict):
    replicas: Annotated[Annotated[int, Field(ge=1, le=1024)] | None, _AUTO] = None
    num_cpus: Annotated[Annotated[float, Field(gt=0)] | None, _AUTO] = None
    num_gpus: Annotated[Annotated[float, Field(ge=0), AfterValidator(_whole_above_one)] | None, _AUTO] = None


_Engine = Annotated[str, AfterValidator(_engine)]
_EngineWorkers = Annotated[
    EngineWorkers, BeforeValidator(lambda value: {"replicas": value} if isinstance(value, str) else value)
]


class Manifest(Strict):
    """The keys of a manifest, as docs/manifest.md lists them."""

    output: _Output | None = None
    defaults: Defaults = Defaults()
    books: tuple[Book, ...] = Field(min_length=1)
    workers: Annotated[dict[_Engine, _EngineWorkers], BeforeValidator(_workers)] = Field(default_factory=dict)
    ray: Annotated[str, BeforeValidator(_ray)] = ""
    stop_at: Annotated[time | None, BeforeValidator(_time_of_day)] = None
    max_hours: float | None = Field(default=None, gt=0, le=24 * 366)


def read_manifest(path: Path, *, is_submitted: bool = False) -> Job:
    """The job that a manifest describes; nothing is written, and no model is loaded.

    is_submitted: whether the program runs under `ray job submit`, whose working folder goes with the job.
    Raises `ConfigError` with all faults at once, a line each, in the order of the manifest's lines.
    """
    tree, lines, faults = read_tree(path)
    if not tree and not faults:
        raise ConfigError(f"{path}:1: the manifest is empty; list its books, as docs/manifest.md shows.")
    place = _Place(path.parent.resolve(), is_submitted)
    folders = _folders(tree, place)
    faults += _find_clashes(tree, lines, folders)
    if is_submitted and any("output" not in book for book in _books(tree).values()) and "output" not in tree:
        faults.append(f"{path}:1: output: is left out, and beside the manifest it would be lost: {_LOST}")
    manifest = check(Manifest, tree, lines, faults, place)
    own = None if is_submitted else own_lexicon()  # the machines of a cluster have no user
    if own is not None:
        read_lexicon(own)  # whose faults are told before any work, too
    workers = {engine: Workers(**dict(said)) for engine, said in manifest.workers.items()}
    return Job(
        books=tuple(_book_job(manifest.defaults, book, folders[i], own) for i, book in enumerate(manifest.books)),
        name=path.stem,
        # Beside a submitted manifest a report would be lost.
        folder=manifest.output or (None if is_submitted else place.path("output")),
        workers=workers,
        ray=manifest.ray,
        stop_at=manifest.stop_at,
        max_hours=manifest.max_hours,
    )


def _book_job(defaults: Defaults, book: Book, folder: Path, own: Path | None) -> BookJob:
    said: dict[str, Any] = {name: getattr(part, name) for part in (defaults, book) for name in part.model_fields_set}
    said["config"] = said.pop("profile", None)
    user = (own,) if own is not None and said.pop("user_lexicon", True) else ()
    said.pop("user_lexicon", None)
    return BookJob(**said | {"output": folder, "lexicons": user + _lexicons(defaults, book)})


def _lexicons(defaults: Defaults, book: Book) -> tuple[Path, ...]:
    """Those of the series, then those of the book, whose words count; an empty list of a book's is none at all."""
    if "lexicons" in book.model_fields_set and not book.lexicons:
        return ()
    far = [path for path in defaults.lexicons if path not in book.lexicons]
    return (*far, *book.lexicons)


def _books(tree: Tree) -> dict[int, Mapping[str, Any]]:
    """The books of a manifest that may have faults yet, by their place in the list."""
    books = tree.get("books")
    return {i: book for i, book in enumerate(books if isinstance(books, list) else ()) if isinstance(book, dict)}


def _folders(tree: Tree, place: _Place) -> dict[int, Path]:
    """Where each book goes, but for those of which the manifest says it wrong."""
    folders = {}
    for i, book in _books(tree).items():
        with contextlib.suppress(ValueError):
            if "output" in book:
                folders[i] = place.path(book["output"])
            else:
                name = place.path(book.get("source")).stem
                folders[i] = place.path(tree.get("output", "output")) / safe_name(name)
    return folders


def _find_clashes(tree: Tree, lines: Lines, folders: Mapping[int, Path]) -> list[str]:
    """Books that would write into another's folder; on some disks `One` and `one` are the same."""
    keys = {i: "output" if "output" in book else "source" for i, book in _books(tree).items()}
    taken: dict[str, int] = {}
    faults = []

    def add(i: int, relation: str, other: int) -> None:
        line, line_of_other = (lines["books", n, keys[n]] for n in (i, other))
        faults.append(
            f"{line}: books[{i}].{keys[i]}: {folders[i]} {relation} where books[{other}] goes "
            f"(line {line_of_other.rpartition(':')[2]}); give each book an `output` of its own"
        )

    for i, folder in folders.items():
        first = taken.setdefault(_real(folder), i)
        if first != i:
            is_same = folder == folders[first]
            add(i, "is" if is_same else f"may be the same folder as {folders[first]},", first)
    for real, i in taken.items():
        above = next((taken[str(up)] for up in PurePath(real).parents if str(up) in taken), None)
        if above is not None:
            add(i, f"lies inside {folders[above]},", above)
    return faults


def _real(folder: Path) -> str:
    return unicodedata.normalize("NFC", os.path.realpath(folder)).casefold()
