"""Voices: one YAML file each, licence required."""

from __future__ import annotations

import difflib
import hashlib
import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import yaml

from pipeline.errors import ConfigError, UsageError, VoiceError
from pipeline.shipped import shipped
from pipeline.whole_file import write_whole

if TYPE_CHECKING:
    from pydantic import BaseModel

DEFAULT_VOICE = "alba"

Options = TypeVar("Options", bound="BaseModel")


@dataclass(frozen=True, slots=True)
class Voice:
    """Who reads. `digest` is of everything that changes how it sounds; `options` are the engine's own."""

    name: str
    engine: str
    digest: str
    language: str
    licence: str
    credit: str
    options: Mapping[str, Any]
    folder: Path = Path()
    """Where the voice file lies: paths in its options are relative to it."""

    def options_as(self, model: type[Options]) -> Options:
        """The options by an engine's schema. Raises `ConfigError` with all faults."""
        from pydantic import ValidationError

        try:
            return model.model_validate(self.options)
        except ValidationError as error:
            faults = [f"options.{'.'.join(map(str, f['loc']))}: {f['msg'].lower()}" for f in error.errors()]
            raise ConfigError("\n".join(f"The voice file {self.name}: {fault}" for fault in faults)) from None

    def using(self, options: Mapping[str, Any]) -> Voice:
        """This voice with other options in place of its own: another voice, if any differs."""
        merged = {**self.options, **options}
        return replace(self, options=merged, digest=_digest(self.engine, self.language, merged))

    @property
    def is_for_sale(self) -> bool:
        """Whether the licence is known to let an audiobook with this voice be sold."""
        parts = self.licence.upper().split("-")
        return "NC" not in parts and "UNVERIFIED" not in parts


def own_folder() -> Path:
    """Where `voices add` keeps the user's own voices: `$RENDER_BOOK_VOICES`, else below the user's data folder."""
    if folder := os.environ.get("RENDER_BOOK_VOICES"):
        return Path(folder)
    data = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(data) / "render-book" / "voices"


def read_voice(name: str) -> Voice:
    """A voice by name, shipped or the user's own, or a voice file by its path (ending in .yaml).

    Raises `VoiceError` for a name nobody knows, `ConfigError` for a file with a fault.
    """
    if name.endswith((".yaml", ".yml")):
        path = Path(name)
        if not path.is_file():
            raise VoiceError(f"There is no voice file {name}: check the path, or see `render-book voices`.")
        return _read(path)
    paths = [folder / f"{name}.yaml" for folder in (shipped("voices"), own_folder())]
    found = next((path for path in paths if path.is_file()), None)
    if name != Path(name).name or found is None:
        known = voice_names()
        close = difflib.get_close_matches(name, known, n=1)
        hint = f"did you mean {close[0]}? " if close else ""
        raise VoiceError(f"There is no voice {name!r}: {hint}`render-book voices` lists them.")
    return _read(found)


def voice_names() -> list[str]:
    """The shipped voices and the user's own, by name."""
    return sorted({path.stem for folder in (shipped("voices"), own_folder()) for path in folder.glob("*.yaml")})


def check_new_name(name: str) -> None:
    """Whether a voice of the user's may be called so. Raises `UsageError`."""
    if not re.fullmatch(r"[\w-]{1,60}", name):
        raise UsageError(f"--name {name!r} can't be a voice's name: use letters, digits, - and _.")
    if (shipped("voices") / f"{name}.yaml").is_file():
        raise UsageError(f"--name {name}: a voice of that name comes with render-book; choose another.")
    if (own_folder() / f"{name}.yaml").is_file():
        raise UsageError(f"--name {name}: there is such a voice in {own_folder()}; remove it, or choose another name.")


def add_voice(name: str, voice_file: Mapping[str, Any], files: Mapping[str, bytes]) -> Path:
    """Keep a voice of the user's, its files first; returns its voice file. Raises `OSError`."""
    folder = own_folder()
    folder.mkdir(parents=True, exist_ok=True)
    for file_name, data in files.items():
        write_whole(folder / file_name, data)
    path = folder / f"{name}.yaml"
    write_whole(path, yaml.safe_dump(dict(voice_file), sort_keys=False, allow_unicode=True).encode())
    return path


def _read(path: Path) -> Voice:
    from pydantic import Field

    from pipeline.strict_yaml import Strict, check, read_tree

    class VoiceFile(Strict):
        engine: str
        language: str
        licence: str
        credit: str = ""
        options: dict[str, Any] = Field(default_factory=dict)

    tree, lines, faults = read_tree(path)
    file = check(VoiceFile, tree, lines, faults)
    if not file.licence.strip():
        raise ConfigError(f"{lines[('licence',)]}: licence: must say under which licence the voice may be used")
    return Voice(
        name=path.stem,
        engine=file.engine,
        digest=_digest(file.engine, file.language, file.options),
        language=file.language,
        licence=file.licence,
        credit=file.credit,
        options=file.options,
        folder=path.parent,
    )


def _digest(engine: str, language: str, options: Mapping[str, Any]) -> str:
    sounds = json.dumps([engine, language, options], sort_keys=True)
    return hashlib.sha256(sounds.encode()).hexdigest()[:20]
