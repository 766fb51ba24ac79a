"""Files of models: a path of one's own, or a hub repository's file at a pinned revision, cached or fetched."""

from __future__ import annotations

import contextlib
import re
import socket
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import getproxies

from pipeline.engines.base import file_digest
from pipeline.errors import VoiceError

_WANTED = ("*.json", "*.jinja", "*.safetensors", "*.model", "merges.txt")
"""The files of a checkpoint that are read."""

_HUB = re.compile(r"hf://(?P<repo>[^/@]+/[^/@]+)/(?P<path>[^@]+)@(?P<revision>.+)")


@dataclass(frozen=True, slots=True)
class MissingFile(Exception):
    """A file that is neither at its path, nor in the cache, nor to be had."""

    source: str
    reason: str


def source_near(folder: Path, name: str) -> str:
    """What a voice file in `folder` names: a path from there, if there is one, else the name as it stands."""
    near = folder / name
    return str(near) if near.exists() else name


def locate(source: str, *, fetch: bool) -> Path:
    """The file that `hf://owner/repository/path@revision` or a path names. Raises `MissingFile`.

    fetch: whether it may be downloaded if it isn't in the hub's cache.
    """
    match = _HUB.fullmatch(source)
    if match is None:
        if source.startswith("hf://"):
            raise VoiceError(f"{source} pins no revision: write hf://owner/repository/path@revision.")
        if not Path(source).is_file():
            raise MissingFile(source, "there is no such file")
        return Path(source)
    from huggingface_hub import hf_hub_download, try_to_load_from_cache

    repo, path, revision = match["repo"], match["path"], match["revision"]
    cached = try_to_load_from_cache(repo, path, revision=revision)
    if isinstance(cached, str):
        return Path(cached)
    _check_hub(source, fetch)
    try:
        return Path(hf_hub_download(repo, path, revision=revision))
    except Exception as error:  # noqa: BLE001 - gated, cut off, a full disk: each of its layers has errors of its own
        raise MissingFile(source, _sentence(error)) from None


def locate_folder(source: str, *, fetch: bool, complete: bool = False) -> Path:
    """The folder that a path or `owner/repository@revision` names: a checkpoint as transformers saves it.

    complete: whether the hub is asked, where it can be, for files that an interrupted download left out.
    """
    path = Path(source)
    if path.is_dir():
        return path
    repo, _, revision = source.partition("@")
    if not re.fullmatch(r"[\w.-]+/[\w.-]+", repo) or not revision:
        raise MissingFile(source, "there is no such folder, and a hub repository needs a revision: owner/name@revision")
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import LocalEntryNotFoundError

    wanted = list(_WANTED)
    others = ["voices/*", "*/voices/*"]  # each voice is fetched when it is asked for
    with contextlib.suppress(LocalEntryNotFoundError):
        cached = Path(
            snapshot_download(
                repo, revision=revision, allow_patterns=wanted, ignore_patterns=others, local_files_only=True
            )
        )
        if _is_whole(cached) and not (complete and _is_reachable(source)):
            return cached
    _check_hub(source, fetch)
    try:
        return Path(snapshot_download(repo, revision=revision, allow_patterns=wanted, ignore_patterns=others))
    except Exception as error:  # noqa: BLE001 - as above
        raise MissingFile(source, _sentence(error)) from None


def identity_of_folder(source: str) -> list[str]:
    """What tells a checkpoint from any other: the digests of the files that are read, or its name at a revision."""
    files = sorted(file for pattern in _WANTED for file in Path(source).glob(pattern) if file.name[0] != ".")
    return [digest_once(file) for file in files if file.is_file()] or [source]


def digest_once(path: Path) -> str:
    """`file_digest`, kept while the file is what it was: each book of a job asks, and weights take seconds to read."""
    stat = path.stat()
    return _digest(path, stat.st_size, stat.st_mtime_ns)


@lru_cache(1024)
def _digest(path: Path, size: int, modified: int) -> str:
    return file_digest(path)


def _is_whole(folder: Path) -> bool:
    """Whether a cached checkpoint has its config and all its weights: a download may have been interrupted."""
    shards = {
        name for index in folder.glob("*.index.json") for name in re.findall(r"[\w.-]+\.safetensors", index.read_text())
    }
    found = {path.name for path in folder.glob("*.safetensors")}
    return (folder / "config.json").is_file() and bool(found) and shards <= found


def _is_reachable(source: str) -> bool:
    try:
        _check_hub(source, True)
    except MissingFile:
        return False
    return True


def _check_hub(source: str, fetch: bool) -> None:
    """Whether a download may and can be tried: without a network the hub's library takes half a minute to say no."""
    if not fetch:
        raise MissingFile(source, "it isn't in the hub's cache")
    from huggingface_hub import constants

    if constants.HF_HUB_OFFLINE:
        raise MissingFile(source, "it isn't in the hub's cache, and HF_HUB_OFFLINE is set")
    host = urlsplit(constants.ENDPOINT)
    if getproxies():
        return  # the proxy may reach what we can't
    try:
        socket.create_connection((host.hostname or "", host.port or 443), timeout=10).close()
    except OSError:
        raise MissingFile(source, f"{host.hostname} can't be reached") from None


def _sentence(error: Exception) -> str:
    """The first line of what the hub's library says."""
    text = " ".join(str(error).strip().splitlines()[:1]) or type(error).__name__
    return text if len(text) <= 200 else text[:199] + "…"
