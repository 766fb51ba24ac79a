"""What the engine qwen3 makes of a tiny checkpoint, in its environment: a script that prints JSON.

`python -m tests.engines.qwen3.engine_run FOLDER`, where `FOLDER/custom`, `FOLDER/base` and `FOLDER/said.wav` are.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from pipeline.engines import registry
from pipeline.engines.base import Failed, Hardware, RawTake, Request
from pipeline.engines.qwen3.engine import Qwen3Engine
from pipeline.profile import read_profile
from pipeline.voices import Voice

TEXTS = (
    "The ferry was late.",
    "Nobody had seen it.",
    "Yes.",
    "It rained all night; then the river rose, and it was gone by noon, all.",
)
SAMPLING = read_profile(None).engine("qwen3").sampling() | {
    "tokens_per_second": 20.0,
    "max_share": 1.0,
    "spare_seconds": 0.5,
}
GREEDY = {"temperature": 0.0, "inner_temperature": 0.0, "eos_scale": 0.0}

BOOSTED = {"eos_rank": 10_000, "eos_scale": 100, "tokens_per_second": 2.0}


def voice_of(model: Path, **options: Any) -> Voice:
    return Voice(
        "tiny", "qwen3", "d", "en", "CC0-1.0", "", {"model": str(model), "dtype": "float32", **options}, model.parent
    )


def open_engine(voice: Voice, num_slots: int = 16) -> Qwen3Engine:
    engine = registry.open_engine(voice, Hardware("cpu", num_slots=num_slots))
    assert isinstance(engine, Qwen3Engine)
    return engine


def requests(**sampling: float) -> list[Request]:
    return [Request(text, text, 0, seed, 2000, SAMPLING | sampling) for seed, text in enumerate(TEXTS)]


def render(engine: Qwen3Engine, asked: Sequence[Request]) -> dict[str, RawTake | Failed]:
    for request in asked:
        engine.admit(request)
    made: dict[str, RawTake | Failed] = {}
    while len(made) < len(asked):
        made |= {one.key: one for one in engine.step()}
    return made


def told(made: dict[str, RawTake | Failed]) -> dict[str, Any]:
    return {
        key: one.kind
        if isinstance(one, Failed)
        else [one.stop, one.num_frames, len(one.samples), hashlib.sha256(one.samples.tobytes()).hexdigest()]
        for key, one in made.items()
    }


def alone(engine: Qwen3Engine, asked: Sequence[Request]) -> dict[str, RawTake | Failed]:
    made: dict[str, RawTake | Failed] = {}
    for request in asked:
        made |= render(engine, [request])
    return made


def heard_codes(engine: Qwen3Engine) -> list[torch.Tensor]:
    """Where the codes of its takes are noted, from now on."""
    noted: list[torch.Tensor] = []
    decode = engine._decode

    def note(codes: torch.Tensor) -> np.ndarray:
        noted.append(codes)
        return decode(codes)

    engine._decode = note  # type: ignore[method-assign]
    return noted


def upstream_codes(model: Path, text: str, num_frames: int) -> torch.Tensor:
    """What the package itself says of a text, greedily and without a processor of ours."""
    from transformers import AutoProcessor

    from pipeline.engines.qwen3.package import load_model

    package = load_model(model, torch.float32, torch.device("cpu"))
    package.processor = AutoProcessor.from_pretrained(str(model))
    noted: list[torch.Tensor] = []
    decode = package.model.speech_tokenizer.decode
    package.model.speech_tokenizer.decode = lambda encoded: noted.append(encoded[0]["audio_codes"]) or decode(encoded)
    package.generate_custom_voice(
        text, "ada", "english", do_sample=False, subtalker_dosample=False, max_new_tokens=num_frames + 1
    )
    return noted[0]


def broken(engine: Qwen3Engine) -> dict[str, Any]:
    """With weights that make no numbers of one letter, which one text has."""
    embedding = engine._model.talker.get_text_embeddings().weight
    [letter] = engine._encode("Y")
    with torch.no_grad():
        kept = embedding[letter].clone()
        embedding[letter] = torch.nan
        made = told(render(engine, requests()))
        embedding[letter] = kept
    return made


def same_scores(engine: Qwen3Engine) -> list[bool]:
    """For each step of two rows: whether its scores have the same bits alone as together."""
    noted: list[torch.Tensor] = []
    engine._model.talker.codec_head.register_forward_hook(lambda head, inputs, out: noted.append(out[:, -1].clone()))
    asked = requests()[:2]
    render(engine, asked)
    together, same = [*noted], []
    for slot, request in enumerate(asked):
        noted.clear()
        render(engine, [request])
        same += [torch.equal(one[0], both[slot]) for one, both in zip(noted, together, strict=False)]
    return same


def main(folder: Path) -> dict[str, Any]:
    custom = open_engine(voice_of(folder / "custom", speaker="Ada"))
    asked = requests()
    found: dict[str, Any] = {
        "together": told(render(custom, asked)),
        "alone": told(alone(custom, asked)),
        "other seeds": told(render(custom, [replace(one, seed=one.seed + 100) for one in asked])),
        "ben": told(render(open_engine(voice_of(folder / "custom", speaker="ben")), asked)),
        "boosted": told(render(custom, requests(**GREEDY | BOOSTED)[:3])),
    }
    noted = heard_codes(custom)
    greedy = render(custom, requests(**GREEDY))
    found["greedy"] = told(greedy)
    found["ours"] = [codes.tolist() for codes in noted]
    found["theirs"] = [
        upstream_codes(folder / "custom", text, take.num_frames).tolist()
        for text, take in greedy.items()
        if isinstance(take, RawTake)
    ]
    found["broken"] = broken(custom)
    for name, options in (("cloned", {"recording_text": "It was a fine day."}), ("coloured", {})):
        base = open_engine(voice_of(folder / "base", recording="said.wav", **options))
        found[name] = told(render(base, asked))
        found[f"{name} alone"] = told(alone(base, asked))
    found["wide"] = same_scores(open_engine(voice_of(folder / "wide", speaker="ada")))
    return found


if __name__ == "__main__":
    out = sys.stdout
    sys.stdout = sys.stderr  # the package prints
    print(json.dumps(main(Path(sys.argv[1]))), file=out)
