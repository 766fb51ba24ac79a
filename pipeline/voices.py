"""Voices: one YAML file each, licence required."""

from __future__ import annotations

import difflib
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from pipeline.errors import ConfigError, VoiceError
from pipeline.shipped import shipped

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

    def options_as(self, model: type[Options]) -> Options:
        """The options by an engine's schema. Raises `ConfigError` with all faults."""
        from pydantic import ValidationError

        try:
            return model.model_validate(self.options)
        except ValidationError as error:
            faults = [f"options.{'.'.join(map(str, f['loc']))}: {f['msg'].lower()}" for f in error.errors()]
            raise ConfigError("\n".join(f"The voice file {self.name}: {fault}" for fault in faults)) from None

    @property
    def is_for_sale(self) -> bool:
        """Whether the licence is known to let an audiobook with this voice be sold."""
        parts = self.licence.upper().split("-")
        return "NC" not in parts and "UNVERIFIED" not in parts


def read_voice(name: str) -> Voice:
    """A shipped voice by name, or a voice file by its path (ending in .yaml).

    Raises `VoiceError` for a name nobody knows, `ConfigError` for a file with a fault.
    """
    if name.endswith((".yaml", ".yml")):
        path = Path(name)
        if not path.is_file():
            raise VoiceError(f"There is no voice file {name}: check the path, or see `render-book voices`.")
        return _read(path)
    path = shipped("voices") / f"{name}.yaml"
    if name != Path(name).name or not path.is_file():
        known = voice_names()
        close = difflib.get_close_matches(name, known, n=1)
        hint = f"did you mean {close[0]}? " if close else ""
        raise VoiceError(f"There is no voice {name!r}: {hint}`render-book voices` lists them.")
    return _read(path)


def voice_names() -> list[str]:
    """The shipped voices, by name."""
    return sorted(path.stem for path in shipped("voices").glob("*.yaml"))


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
    sounds = json.dumps([file.engine, file.language, file.options], sort_keys=True)
    return Voice(
        name=path.stem,
        engine=file.engine,
        digest=hashlib.sha256(sounds.encode()).hexdigest()[:20],
        language=file.language,
        licence=file.licence,
        credit=file.credit,
        options=file.options,
    )
