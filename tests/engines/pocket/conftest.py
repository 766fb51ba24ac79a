"""Tiny checkpoints of the real classes, made once, and the engine as a run opens it: by a voice file."""

from __future__ import annotations

import functools
import os
import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from filelock import FileLock

from pipeline.engines import registry
from pipeline.engines.base import Engine, Hardware, RawTake, Request
from pipeline.script.script import Boundary
from pipeline.voices import Voice, read_voice

if TYPE_CHECKING:
    from torch import Tensor

    from tests.engines.pocket.checkpoints import TinyModel

MakeTiny = Callable[..., "TinyModel"]


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> MakeTiny:
    """`checkpoints.make_tiny` of a kind of model, made once for all tests and all of xdist's workers."""
    base = tmp_path_factory.getbasetemp()
    root = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base

    @functools.cache
    def make(**kind: Any) -> TinyModel:
        folder = root / "-".join(["tiny", *(f"{key}_{value}" for key, value in sorted(kind.items()))])
        made = folder / "made.pickle"
        with FileLock(f"{folder}.lock"):
            if not made.exists():
                from tests.engines.pocket.checkpoints import make_tiny

                made.write_bytes(pickle.dumps(make_tiny(folder, **kind)))
            model: TinyModel = pickle.loads(made.read_bytes())
            return model

    return make


@pytest.fixture(scope="module")
def one_thread() -> Iterator[None]:
    """As an engine of several slots sets it; put back afterwards."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def write_voice(path: Path, model: str | Path, state: str | Path, **options: Any) -> Voice:
    """A voice file at `path`, read."""
    options = {"model": str(model), "state": str(state), "dtype": "float32", **options}
    path.write_text(yaml.safe_dump({"engine": "pocket", "language": "en", "licence": "CC0-1.0", "options": options}))
    return read_voice(str(path))


def kyutai_voice(folder: Path, model: TinyModel, **options: Any) -> Voice:
    return write_voice(folder / "kyutai.yaml", model.kyutai_yaml, model.kyutai_voice, **options)


def transformers_voice(folder: Path, model: TinyModel, **options: Any) -> Voice:
    assert model.transformers_dir is not None
    assert model.transformers_voice is not None
    options = {"codec": str(model.codec_dir), **options}
    return write_voice(folder / "transformers.yaml", model.transformers_dir, model.transformers_voice, **options)


def open_engine(voice: Voice, num_slots: int = 3, num_threads: int = 1) -> Any:
    return registry.open_engine(voice, Hardware("cpu", num_threads, num_slots))


def requests_of(voice: Voice, texts: Iterable[str], **sampling: float) -> list[Request]:
    """As a script asks for them, without noise unless a temperature is given: key and seed are the text's number."""
    frontend = registry.open_frontend(voice)
    sampling = {"temperature": 0.0, **sampling}
    return [
        Request(str(number), prepared, 0, number, frontend.budget(prepared), sampling)
        for number, prepared in enumerate(frontend.prepare(text, Boundary.SENTENCE) for text in texts)
    ]


def speak(engine: Engine, requests: Sequence[Request]) -> dict[str, RawTake]:
    """All requests through the engine's slots, in order, as a worker does it."""
    queue, takes = list(requests), dict[str, RawTake]()
    while len(takes) < len(requests):
        while queue and engine.free_slots:
            engine.admit(queue.pop(0))
        for take in engine.step():
            assert isinstance(take, RawTake)
            assert take.key not in takes
            takes[take.key] = take
    return takes


def latents_caught(engine: Any) -> dict[str, list[Tensor]]:
    """What the engine hands to its codec from now on, by request: normalised latents, window by window."""
    caught: dict[str, list[Tensor]] = {}
    push = engine._decoding.push

    def watched(row: Any, latents: Tensor) -> None:
        caught.setdefault(row.request.key, []).append(latents.clone())
        push(row, latents)

    engine._decoding.push = watched
    return caught
