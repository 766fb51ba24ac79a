"""Pocket TTS at its released size on a CUDA GPU, with random weights: speed by slots, memory, and whether it is right.

    python benchmarks/bench_gpu.py

Under ten minutes; needs nothing but the project. Chunks are 75 frames (6 s) of 40 tokens, said by a voice of 125 frames
with end of speech off, the codec included, two chunks a slot and round. The table: times real time (median and range
of the rounds) and peak GPU memory. Then the latents of four chunks against the CPU's in float32, from the same noise:
the error of frame 0 (the prefill's), of frame 1 (a step's) and of all frames (fed back), relative to their size.
In float32 the first two should be near 1e-6, in bfloat16 near 1e-2. The last line is all of it as JSON. Without CUDA
it says so and exits with 5.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import replace
from statistics import median
from unittest import mock

import torch
from torch import Tensor

from pipeline.engines.base import Hardware, RawTake, Request
from pipeline.engines.pocket.backbone import Backbone, Prefix
from pipeline.engines.pocket.decoding import Sounding
from pipeline.engines.pocket.engine import PocketEngine, Shape
from pipeline.engines.pocket.geometry import CodecGeometry, Geometry, TransformerGeometry
from pipeline.engines.pocket.model import Checkpoint, Sampling
from pipeline.engines.pocket.open import shape_for
from pipeline.engines.pocket.voice_state import prefix_of_latents
from pipeline.engines.pocket.weights import Weights

CPU = torch.device("cpu")
SAMPLE_RATE = 24_000
VOICE_FRAMES, NUM_TOKENS = 125, 40
NEVER = 1e9
"""An end-of-speech threshold that no logit reaches."""

WIDTH, FLOW_WIDTH, FLOW_DEPTH, LATENT, CODEC_WIDTH = 1024, 512, 6, 32, 512
RATIOS = (6, 5, 4)
SLOW_SECONDS = 30.0
"""What takes longer for a round is measured in one."""


def sizes(num_layers: int) -> dict[str, tuple[int, ...]]:
    """The tensors of the released English model, by the project's names."""
    found: dict[str, tuple[int, ...]] = {
        "text.embedding": (4001, WIDTH),
        "voice.projection": (WIDTH, LATENT),
        "voice.bos": (WIDTH,),
        "latent.projection": (WIDTH, LATENT),
        "latent.bos": (LATENT,),
        "codec.latent.mean": (LATENT,),
        "codec.latent.std": (LATENT,),
        "codec.latent_projection.weight": (CODEC_WIDTH, LATENT),
        "codec.upsample.weight": (CODEC_WIDTH, 1, 32),
    }

    def layer(name: str, out_dim: int, *in_dims: int) -> None:
        found.update({f"{name}.weight": (out_dim, *in_dims), f"{name}.bias": (out_dim,)})

    def transformer(name: str, count: int, width: int) -> None:
        for at in (f"{name}.layers.{number}" for number in range(count)):
            for part, out_dim, in_dim in (("qkv", 3, 1), ("out", 1, 1), ("widen", 4, 1), ("narrow", 1, 4)):
                found[f"{at}.{part}.weight"] = (out_dim * width, in_dim * width)
            layer(f"{at}.attention_norm", width)
            layer(f"{at}.feedforward_norm", width)
            if name == "codec.transformer":
                found.update({f"{at}.attention_scale": (width,), f"{at}.feedforward_scale": (width,)})

    transformer("backbone", num_layers, WIDTH)
    layer("backbone.norm", WIDTH)
    layer("heads.eos", 1, WIDTH)
    layer("heads.flow.input", FLOW_WIDTH, LATENT)
    layer("heads.flow.condition", FLOW_WIDTH, WIDTH)
    for at in (f"heads.flow.blocks.{number}" for number in range(FLOW_DEPTH)):
        layer(f"{at}.norm", FLOW_WIDTH)
        layer(f"{at}.fc1", FLOW_WIDTH, FLOW_WIDTH)
        layer(f"{at}.fc2", FLOW_WIDTH, FLOW_WIDTH)
        layer(f"{at}.modulation", 3 * FLOW_WIDTH, FLOW_WIDTH)
    layer("heads.flow.final.output", LATENT, FLOW_WIDTH)
    layer("heads.flow.final.modulation", 2 * FLOW_WIDTH, FLOW_WIDTH)
    for at in ("heads.flow.times.0", "heads.flow.times.1"):
        found.update({f"{at}.frequencies": (128,), f"{at}.norm.weight": (FLOW_WIDTH,)})
        layer(f"{at}.fc1", FLOW_WIDTH, 256)
        layer(f"{at}.fc2", FLOW_WIDTH, FLOW_WIDTH)
    transformer("codec.transformer", 2, CODEC_WIDTH)
    layer("codec.first", CODEC_WIDTH, CODEC_WIDTH, 7)
    width = CODEC_WIDTH
    for number, ratio in enumerate(RATIOS):
        at, width = f"codec.stages.{number}", width // 2
        found.update({f"{at}.up.weight": (2 * width, width, 2 * ratio), f"{at}.up.bias": (width,)})
        layer(f"{at}.blocks.0.wide", width // 2, width, 3)
        layer(f"{at}.blocks.0.point", width, width // 2, 1)
    layer("codec.last", 1, width, 3)
    return found


def random_model(num_layers: int) -> Checkpoint:
    generator = torch.Generator().manual_seed(0)

    def draw(name: str, shape: tuple[int, ...]) -> Tensor:
        if name.endswith(("norm.weight", "frequencies", "std")):
            return torch.ones(shape)
        drawn = torch.randn(shape, generator=generator)
        if name.endswith(("bos", "embedding")):
            return drawn
        # As large as torch draws the weights of its layers: what is fed back then stays calm.
        return drawn * (0.05 if len(shape) == 1 else (3 * drawn[0].numel()) ** -0.5)

    backbone = TransformerGeometry(num_layers, num_heads=16, num_kv_heads=16, head_dim=64, rope_period=10_000.0)
    decoder = TransformerGeometry(2, num_heads=8, num_kv_heads=8, head_dim=64, rope_period=10_000.0, context=250)
    codec = CodecGeometry(decoder, latent_stride=16, ratios=RATIOS, dilations=(1,), sample_rate=SAMPLE_RATE)
    tensors = {name: draw(name, shape) for name, shape in sizes(num_layers).items()}
    return Checkpoint(Geometry(backbone, "lsd", codec, encoder=codec), Weights(tensors))


def open_engine(model: Checkpoint, shape: Shape) -> PocketEngine:
    weights = Weights({name: tensor.to(shape.device) for name, tensor in model.weights.items()})
    voice = torch.randn(VOICE_FRAMES, LATENT, generator=torch.Generator().manual_seed(1))
    prefixes: list[Prefix] = []

    def prefix_of(_request: Request, backbone: Backbone) -> Prefix:
        if not prefixes:
            prefixes.append(prefix_of_latents(voice, "bench", backbone, weights, shape.device))
        return prefixes[0]

    tokens = list(range(100, 100 + NUM_TOKENS))
    return PocketEngine(Checkpoint(model.geometry, weights), Sampling(), lambda _text: tokens, prefix_of, shape)


def gpu_shape(device: torch.device, dtype: torch.dtype, num_slots: int) -> Shape:
    """As a GPU is given it, also where there is none."""
    return replace(shape_for(torch.device("cuda"), dtype, Hardware(num_slots=num_slots)), device=device)


def speak(engine: PocketEngine, num_chunks: int, num_frames: int) -> float:
    """Seconds of audio made."""
    queue = [Request(str(n), "", 0, n, num_frames, {"eos_threshold": NEVER}) for n in range(num_chunks)][::-1]
    num_left, num_samples = num_chunks, 0
    while num_left:
        while queue and engine.free_slots:
            engine.admit(queue.pop())
        for take in engine.step():
            assert isinstance(take, RawTake), take
            assert take.num_frames == num_frames
            num_left -= 1
            num_samples += len(take.samples)
    return num_samples / SAMPLE_RATE


def measure(model: Checkpoint, shape: Shape, num_frames: int) -> dict[str, float]:
    engine = open_engine(model, shape)
    speak(engine, shape.num_slots, num_frames // 4)  # whatever is done for the first time
    if shape.device.type == "cuda":
        torch.cuda.reset_peak_memory_stats()
    speeds, seconds = [], 0.0
    while len(speeds) < 3 and seconds < SLOW_SECONDS:
        started = time.perf_counter()
        audio_seconds = speak(engine, 2 * shape.num_slots, num_frames)  # ends with the samples in main memory
        seconds = time.perf_counter() - started
        speeds.append(audio_seconds / seconds)
    peak = torch.cuda.max_memory_allocated() / 2**20 if shape.device.type == "cuda" else 0.0
    return {"x": median(speeds), "lowest": min(speeds), "highest": max(speeds), "peak_mb": peak}


def spoken_latents(model: Checkpoint, shape: Shape, num_frames: int) -> Tensor:
    """`[4, num_frames, latent_dim]`, caught on their way to the codec."""
    engine = open_engine(model, shape)
    made: dict[str, list[Tensor]] = {}
    push = engine._decoding.push

    def caught(row: Sounding, latents: Tensor) -> None:
        made.setdefault(row.request.key, []).append(latents.cpu())
        push(row, latents)

    with mock.patch.object(engine._decoding, "push", caught):
        speak(engine, 4, num_frames)
    return torch.stack([torch.cat(made[key]) for key in sorted(made)])


def compare(found: Tensor, expected: Tensor) -> dict[str, float]:
    def apart(frames: slice) -> float:
        return float((found[:, frames] - expected[:, frames]).norm() / expected[:, frames].norm())

    return {"frame_0": apart(slice(0, 1)), "frame_1": apart(slice(1, 2)), "all": apart(slice(None))}


def main(device: torch.device, quick: bool) -> None:
    torch.set_num_threads(1)  # as for a CPU of several slots; a GPU needs no more
    num_frames = 20 if quick else 75
    slots = (2, 4) if quick else (64, 128, 256, 512)
    runs = [(number, torch.bfloat16) for number in slots] + [(slots[-2], torch.float32)]
    model = random_model(1 if quick else 6)
    name = torch.cuda.get_device_name() if device.type == "cuda" else "CPU"
    report: dict[str, dict[str, dict[str, float]]] = {"speed": {}, "latents": {}}
    print(f"{name}\n{'':<20} {'x real time':>11} {'lowest–highest':>17} {'peak MB':>8}")
    for num_slots, dtype in runs:
        label = f"{num_slots} slots {str(dtype).removeprefix('torch.')}"
        try:
            row = measure(model, gpu_shape(device, dtype, num_slots), num_frames)
        except torch.OutOfMemoryError:
            print(f"{label:<20} doesn't fit into its memory")
            continue
        report["speed"][label] = row
        span = f"{row['lowest']:.0f}–{row['highest']:.0f}"
        print(f"{label:<20} {row['x']:11.0f} {span:>17} {row['peak_mb']:8.0f}", flush=True)
    expected = spoken_latents(model, shape_for(CPU, torch.float32, Hardware("cpu", num_slots=4)), 20)
    for dtype in (torch.float32, torch.bfloat16):
        errors = compare(spoken_latents(model, gpu_shape(device, dtype, 8), 20), expected)
        report["latents"][str(dtype).removeprefix("torch.")] = errors
        print(f"{dtype} latents against the CPU's: " + ", ".join(f"{part} {e:.1e}" for part, e in errors.items()))
    print(json.dumps({"device": name, "torch": torch.__version__} | report))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Pocket TTS on a CUDA GPU.")
    parser.add_argument("--device", default="cuda", help=argparse.SUPPRESS)
    parser.add_argument("--quick", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.device == "cuda" and not torch.cuda.is_available():
        print(
            "There is no CUDA device here (or this torch can't use it): run this on a machine with one.",
            file=sys.stderr,
        )
        sys.exit(5)
    main(torch.device(given.device), given.quick)
