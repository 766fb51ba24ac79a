"""Pocket TTS at its released size: this project's engine, the package pocket-tts, and transformers, on this CPU.

    python benchmarks/bench_pocket.py [--quick]

The weights are random, so nothing is fetched; speed and memory don't depend on them. Every contender loads its model
from files, as its users do, in a process of its own, and they speak in turns: each ratio is a median over rounds, of
speeds measured within a minute or two of each other, since machines drift. Chunks are 40 frames (3.2 s) of 40 tokens,
said by a voice of 125 frames, and the codec counts. End of speech is off: all make the same number of frames.

- pocket-tts: `generate_audio`, one chunk at a time, the codec in its own second thread; int8 is its `quantize=True`.
- transformers: `generate` with a copied voice cache, then the codec row by row (faster than a batch); the number of
  threads and the batch (8, 16, 32) are what ran fastest in a short trial.
- ours: `open_pocket` with 1, 16, 32 and 64 slots; `auto` is the number format that suits the machine.

The table: times real time (median and range of the rounds), peak memory of the process, and where our main thread's
wall time went, in a round of its own (`beside`: what the codec's threads worked meanwhile). The last line is JSON.
ratio_*: ours over theirs. occupancy: live rows per step and slot in a run of chunks of mixed length, until its queue
is dry. snr_db: the sound of the same latents decoded in bfloat16, against float32. step_error: how far the latents of
one step in bfloat16 are from those of float32, relative to their size. `--quick` shows that it runs, and no more.
"""

from __future__ import annotations

import argparse
import json
import logging
import multiprocessing
import os
import random
import resource
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any
from unittest import mock

from pipeline.engines.base import Hardware, RawTake, Request
from pipeline.voices import Voice

FRAME_SECONDS = 0.08
SAMPLE_RATE = 24_000
VOICE_FRAMES = 125
NUM_TOKENS = 40
NEVER = 1e9
"""An end-of-speech threshold that no logit reaches."""

WORDS = ["<unk>", ".", "Once", *(f"w{number}" for number in range(3, 4000))]
TEXT = " ".join(WORDS[2 : NUM_TOKENS + 1]) + "."
"""A token a word, and one for the full stop."""


@dataclass(frozen=True, slots=True)
class Size:
    num_layers: int
    num_frames: int
    num_rounds: int
    slots: tuple[int, ...]
    batches: tuple[int, ...]
    num_mixed: int
    """Chunks of the run for occupancy."""


FULL = Size(6, 40, 3, (1, 16, 32, 64), (16, 8, 32), 300)
QUICK = Size(1, 24, 2, (1, 4), (2, 4), 40)


def write_models(folder: Path, num_layers: int) -> None:
    """Random weights of the real classes in both formats, and a voice."""
    import pocket_tts
    import torch
    import transformers
    import yaml
    from pocket_tts.modules.stateful_module import init_states
    from pocket_tts.utils.config import Config
    from safetensors.torch import save_file
    from tokenizers import Tokenizer, models, pre_tokenizers

    tokenizer = Tokenizer(models.WordLevel({word: number for number, word in enumerate(WORDS)}, WORDS[0]))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.save(str(folder / "tokenizer.json"))
    tree = yaml.safe_load((Path(pocket_tts.__file__).parent / "config/english.yaml").read_text())
    tree["flow_lm"]["transformer"]["num_layers"] = num_layers
    tree["flow_lm"]["lookup_table"]["tokenizer_path"] = str(folder / "tokenizer.json")
    tree |= {"weights_path": None, "weights_path_without_voice_cloning": None}
    torch.manual_seed(0)
    logging.disable(logging.WARNING)  # that there are no weights
    tts = pocket_tts.TTSModel._from_pydantic_config_with_weights(Config(**tree), 0.3, 1, None, NEVER)
    with torch.inference_mode():
        tts.flow_lm.speaker_proj_weight.normal_(std=0.2)
        voice = torch.randn(1, VOICE_FRAMES, 32) @ tts.flow_lm.speaker_proj_weight.T
        state = init_states(tts.flow_lm, batch_size=1, sequence_length=VOICE_FRAMES + 1)
        prompt = torch.cat([tts.flow_lm.bos_before_voice, voice], 1)
        tts._run_flow_lm_and_increment_step(model_state=state, audio_conditioning=prompt)
    pocket_tts.export_model_state(state, folder / "voice.safetensors")
    save_file(tts.state_dict(), folder / "model.safetensors")
    (folder / "model.yaml").write_text(yaml.safe_dump(tree | {"weights_path": str(folder / "model.safetensors")}))
    config = transformers.PocketTTSConfig(num_hidden_layers=num_layers)
    transformers.PocketTTSForConditionalGeneration(config).save_pretrained(folder / "hf")
    codec = transformers.PocketTTSAudioTokenizerConfig(encoder_config=None)
    transformers.PocketTTSAudioTokenizerModel(codec).save_pretrained(folder / "codec")


class Contender:
    num_at_once = 1
    num_samples = 0
    """Spoken so far."""
    notes = ""

    def speak(self, num_chunks: int, num_frames: int) -> None:
        raise NotImplementedError

    def speed(self, num_chunks: int, num_frames: int) -> float:
        """Times real time."""
        before, started = self.num_samples, time.perf_counter()
        self.speak(num_chunks, num_frames)
        seconds = time.perf_counter() - started
        audio_seconds = (self.num_samples - before) / SAMPLE_RATE
        assert round(audio_seconds / FRAME_SECONDS) == num_chunks * num_frames, "not all frames were made"
        return audio_seconds / seconds


class PocketTTS(Contender):
    def __init__(self, folder: Path, dtype: str) -> None:
        from pocket_tts import TTSModel

        config = folder / "model.yaml"
        self._model = TTSModel.load_model(config=config, quantize=dtype == "int8", eos_threshold=NEVER)
        self._voice = self._model.get_state_for_audio_prompt(folder / "voice.safetensors")

    def speak(self, num_chunks: int, num_frames: int) -> None:
        self._model._estimate_max_gen_len = lambda num_tokens: num_frames
        for _ in range(num_chunks):
            self.num_samples += len(self._model.generate_audio(self._voice, TEXT))


class Transformers(Contender):
    def __init__(self, folder: Path, dtype: str, size: Size) -> None:
        import torch
        from transformers import PocketTTSAudioTokenizerModel, PocketTTSForConditionalGeneration

        self._model = PocketTTSForConditionalGeneration.from_pretrained(folder / "hf", dtype=dtype)
        self._codec = PocketTTSAudioTokenizerModel.from_pretrained(folder / "codec", dtype=dtype)
        shape = (size.num_layers, 2, 1, 16, VOICE_FRAMES + 1, 64)
        self._voice = 0.3 * torch.randn(shape, generator=torch.Generator().manual_seed(0)).to(self._codec.dtype)
        # What is fastest here is found out first, number of threads and batch one after the other.
        self.num_at_once = size.batches[0]
        self._settle(torch.set_num_threads, (torch.get_num_threads(), 1), size.num_frames // 3)
        self._settle(partial(setattr, self, "num_at_once"), size.batches, size.num_frames // 3)
        self.notes = f"batch {self.num_at_once}, {torch.get_num_threads()} threads"

    def _settle(self, choose: Callable[[int], None], choices: Sequence[int], num_frames: int) -> None:
        speeds = {}
        for choice in choices:
            choose(choice)
            self.speak(self.num_at_once, 2)
            speeds[self.speed(self.num_at_once, num_frames)] = choice
        choose(speeds[max(speeds)])

    def speak(self, num_chunks: int, num_frames: int) -> None:
        import torch
        from transformers import DynamicCache

        for _ in range(0, num_chunks, self.num_at_once):
            cache = DynamicCache(config=self._model.config)
            for number, (keys, values) in enumerate(self._voice.repeat(1, 1, self.num_at_once, 1, 1, 1)):
                cache.update(keys, values, number)
            ids = torch.tensor([[*range(100, 100 + NUM_TOKENS), 4003]]).repeat(self.num_at_once, 1)
            made = self._model.generate(
                input_ids=ids, attention_mask=torch.ones_like(ids), cache=cache, do_sample=True, temperature=0.3,
                max_new_tokens=num_frames, eos_threshold=NEVER, frames_after_eos=2, return_dict_in_generate=True,
            )  # fmt: skip
            with torch.no_grad():
                for row in made.audio_latents.to(self._codec.dtype):
                    self.num_samples += self._codec.decode(row[None]).audio_values.numel()


class Ours(Contender):
    def __init__(self, folder: Path, dtype: str, num_slots: int) -> None:
        from pipeline.engines.pocket.open import open_pocket

        options = {"model": str(folder / "model.yaml"), "state": "voice.safetensors", "dtype": dtype}
        voice = Voice("bench", "pocket", dtype, "en", "MIT", "", options, folder)
        self.engine = open_pocket(voice, Hardware("cpu", num_slots=num_slots))
        self.num_at_once = num_slots

    def speak(self, num_chunks: int, num_frames: int) -> None:
        for take in self.takes([num_frames] * num_chunks):
            self.num_samples += len(take.samples)

    def takes(self, lengths: Sequence[int], on_dry: Callable[[], None] = lambda: None) -> Iterator[RawTake]:
        """Chunks of so many frames each. `on_dry` is called as soon as none is left to be admitted."""
        never = {"eos_threshold": NEVER}
        queue = [Request(str(n), TEXT, 0, n, length, never) for n, length in enumerate(lengths)][::-1]
        num_left = len(queue)
        while num_left:
            while queue and self.engine.free_slots:
                self.engine.admit(queue.pop())
                if not queue:
                    on_dry()
            for take in self.engine.step():
                assert isinstance(take, RawTake), take
                num_left -= 1
                yield take


# What a contender's process does.

_contender: Contender


def open_contender(folder: Path, name: str, size: Size) -> None:
    """Everything but the rounds, and a short warm-up, so that nothing is done there for the first time."""
    global _contender
    logging.disable(logging.WARNING)  # that speech didn't end, above all
    kind, dtype, *slots = name.split()
    if kind == "ours":
        _contender = Ours(folder, dtype, int(slots[0]))
    else:
        _contender = PocketTTS(folder, dtype) if kind == "pocket-tts" else Transformers(folder, dtype, size)
    _contender.speak(_contender.num_at_once, size.num_frames // 4)


def run_round(num_frames: int) -> float:
    return _contender.speed(8 if _contender.num_at_once == 1 else 2 * _contender.num_at_once, num_frames)


def run_last(num_frames: int) -> tuple[float, str]:
    """Peak memory in MB; and where the time of a round of ours goes, or what else there is to say."""
    peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    if not isinstance(_contender, Ours):
        return peak_mb, _contender.notes
    from pipeline.engines.pocket import backbone, codec, heads

    places = {"steps": (backbone.Backbone, "step"), "prefill": (backbone.Backbone, "prefill"),
              "heads": (heads.Heads, "__call__"), "codec": (codec.Decoder, "decode")}  # fmt: skip
    spent: list[tuple[str, float]] = []
    num_chunks = max(4, _contender.num_at_once)
    with ExitStack() as stack:
        for part, (owner, name) in places.items():
            stack.enter_context(mock.patch.object(owner, name, watched(getattr(owner, name), part, spent)))
        wall = num_chunks * num_frames * FRAME_SECONDS / _contender.speed(num_chunks, num_frames)
    shares = {part: sum(seconds for named, seconds in spent if named == part) / wall for part in (*places, "beside")}
    shares["other"] = 1 - sum(shares[part] for part in places)
    return peak_mb, "  ".join(f"{part} {share:.0%}" for part, share in shares.items())


def watched(function: Any, part: str, spent: list[tuple[str, float]]) -> Any:
    def run(*args: Any) -> Any:
        started = time.perf_counter()
        made = function(*args)
        is_main = threading.current_thread() is threading.main_thread()
        spent.append((part if is_main else "beside", time.perf_counter() - started))
        return made

    return run


# Two checks, each in a process of its own.


def measure_occupancy(folder: Path, size: Size) -> float:
    """Chunks of 1 to 10 seconds through 32 slots, until the queue is dry. It takes no sound to tell."""
    import torch

    ours = Ours(folder, "auto", max(size.slots[:3]))
    found: list[float] = []

    def read() -> None:
        counters = ours.engine.counters
        found.append(counters.row_steps / (counters.steps * ours.num_at_once))

    def silent(_decoder: object, _latents: object, _state: object) -> Any:
        return torch.zeros(1)

    lengths = random.Random(0).choices(range(12, 126), k=size.num_mixed)
    with mock.patch("pipeline.engines.pocket.codec.Decoder.decode", silent):
        assert len(list(ours.takes(lengths, on_dry=read))) == len(lengths)
    return found[0]


def compare_formats(folder: Path, size: Size) -> tuple[float, float]:
    """Signal to noise of the sound (dB) and relative error of a step's latents, bfloat16 against float32."""
    import torch

    from pipeline.engines.pocket.codec import CodecState

    exact, fast = (Ours(folder, dtype, 4) for dtype in ("float32", "bfloat16"))
    with torch.inference_mode():
        # Frame 0 is the prefill's; frame 1 is a step's, in each format from its own frame 0.
        stepped, rounded = (torch.stack(spoken_latents(each, 2))[:, 1] for each in (exact, fast))
        error = float((rounded - stepped).norm() / stepped.norm())
        latents = spoken_latents(exact, size.num_frames)
        sound, coarse = (torch.cat([each.engine._decoder.decode(row, CodecState()) for row in latents])
                         for each in (exact, fast))  # fmt: skip
    assert bool(sound.isfinite().all())
    return 20 * float(torch.log10(sound.norm() / (coarse - sound).norm())), error


def spoken_latents(ours: Ours, num_frames: int) -> list[Any]:
    """The latents of four chunks, caught on their way to the codec."""
    import torch

    made: dict[str, list[Any]] = {}
    push = ours.engine._decoding.push

    def caught(row: Any, latents: Any) -> None:
        made.setdefault(row.request.key, []).append(latents)
        push(row, latents)

    with mock.patch.object(ours.engine._decoding, "push", caught):
        ours.speak(4, num_frames)
    return [torch.cat(made[key]) for key in sorted(made)]


# The rounds, and what is told of them.


def process(*opening: Any) -> ProcessPoolExecutor:
    """One process that stays. Not forked: it would begin with the memory of what is here."""
    context = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(1, context, open_contender if opening else None, opening)


def alone(function: Callable[..., Any], *given: Any) -> Any:
    with process() as pool:
        return pool.submit(function, *given).result()


def measure(folder: Path, size: Size) -> tuple[dict[str, list[float]], dict[str, tuple[float, str]]]:
    """Speeds by contender, a round each; and what `run_last` says of it."""
    ours = [f"ours {dtype} {slots}" for dtype in ("float32", "auto") for slots in size.slots]
    # Whose ratio is wanted stand side by side; every second round goes backwards.
    names = ["transformers float32", "pocket-tts float32", *ours, "pocket-tts int8", "transformers bfloat16"]
    speeds: dict[str, list[float]] = {name: [] for name in names}
    with ExitStack() as stack:
        pools = {name: stack.enter_context(process(folder, name, size)) for name in names}
        for name, pool in pools.items():
            pool.submit(abs, 0).result()
            say(f"{name} is open")
        for number in range(size.num_rounds):
            for name in names[:: -1 if number % 2 else 1]:
                speeds[name].append(pools[name].submit(run_round, size.num_frames).result())
                say(f"round {number + 1}: {name} {speeds[name][-1]:.1f} x")
        return speeds, {name: pool.submit(run_last, size.num_frames).result() for name, pool in pools.items()}


def say(message: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {message}", file=sys.stderr, flush=True)


def ratios(speeds: dict[str, list[float]]) -> dict[str, float]:
    def best(prefix: str) -> str:
        return max((name for name in speeds if name.startswith(prefix)), key=lambda name: median(speeds[name]))

    def ratio(ours: str, theirs: str) -> float:
        return round(median(a / b for a, b in zip(speeds[ours], speeds[theirs], strict=True)), 3)

    return {
        "ratio_fp32": ratio(best("ours float32"), "pocket-tts float32"),
        "ratio_int8": ratio(best("ours"), "pocket-tts int8"),
        "ratio_transformers": ratio(best("ours"), best("transformers")),
        "ratio_batch1": ratio("ours float32 1", "pocket-tts float32"),
    }


def main(size: Size) -> None:
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="bench-pocket-") as name:
        folder = Path(name)
        alone(write_models, folder, size.num_layers)
        snr_db, error = alone(compare_formats, folder, size)
        occupancy = alone(measure_occupancy, folder, size)
        speeds, last = measure(folder, size)
    print(f"{'':<22} {'x real time':>11} {'lowest–highest':>15} {'peak MB':>8}")
    for name, each in speeds.items():
        span = f"{min(each):.1f}–{max(each):.1f}"
        print(f"{name:<22} {median(each):11.1f} {span:>15} {last[name][0]:8.0f}  {last[name][1]}")
    print(f"bfloat16 against float32: sound {snr_db:.1f} dB, a step's latents {error:.4f}")
    print(f"{occupancy:.1%} of the slots busy until the queue was dry; {(time.monotonic() - started) / 60:.1f} minutes")
    figures = {"occupancy": round(occupancy, 4), "snr_db": round(snr_db, 2), "step_error": round(error, 5)}
    raw = {name: round(median(each), 2) for name, each in speeds.items()}
    print(json.dumps(ratios(speeds) | figures | {"x": raw, "peak_mb": {name: round(last[name][0]) for name in last}}))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Pocket TTS: ours against pocket-tts and transformers.")
    parser.add_argument("--quick", action="store_true", help="a minute, to see whether it runs")
    os.environ |= {"TQDM_DISABLE": "1", "PYTHONWARNINGS": "ignore"}  # of the contenders' processes
    main(QUICK if parser.parse_args().quick else FULL)
