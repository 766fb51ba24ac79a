"""Who shares a batch is not heard: a chunk sounds the same alone, beside any others, and wherever it stands in line.

On a CPU, in float32, with one thread and at least four slots, to the last bit.
"""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from pipeline.engines.base import Hardware, RawTake, Request
from pipeline.engines.pocket.backbone import Backbone, KeyValues, Prefix
from pipeline.engines.pocket.engine import PocketEngine
from pipeline.engines.pocket.geometry import TransformerGeometry
from pipeline.engines.pocket.model import Checkpoint, Sampling, open_model
from pipeline.engines.pocket.open import shape_for
from pipeline.engines.pocket.weights import Weights
from pipeline.voices import Voice
from tests.engines.pocket.conftest import (
    MakeTiny,
    kyutai_voice,
    open_engine,
    requests_of,
    speak,
    write_voice,
)

pytestmark = [pytest.mark.pocket, pytest.mark.usefixtures("one_thread")]

CLOSE = 1e-4
TEXTS = (
    "Yes.",
    "The lamp went out.",
    "It wasn't the first time that the lighthouse had gone dark, and it would not be the last.",
    "Come in, Tom!",
    "Was it the wind, or was there somebody in the garden?",
    "No!",
    "They kept the letters in a tin box under the stairs.",
    "Well, then, we shall wait for the ferry.",
    "He counted the boats twice and said nothing.",
)


@pytest.fixture(scope="module", params=["lsd", "small"])
def voice(request: pytest.FixtureRequest, tiny: MakeTiny, tmp_path_factory: pytest.TempPathFactory) -> Voice:
    model = tiny(flow="drifting", small=True) if request.param == "small" else tiny(flow="lsd")
    return kyutai_voice(tmp_path_factory.mktemp("voice"), model)


@pytest.fixture(scope="module")
def requests(voice: Voice) -> list[Request]:
    return requests_of(voice, TEXTS, temperature=0.3)


@pytest.fixture(scope="module")
def expected(one_thread: None, voice: Voice, requests: list[Request]) -> dict[str, RawTake]:
    """What they sound like through four slots."""
    return speak(open_engine(voice, num_slots=4), requests)


def assert_same(one: RawTake, other: RawTake) -> None:
    assert (one.num_frames, one.stop) == (other.num_frames, other.stop)
    assert one.samples.tobytes() == other.samples.tobytes()


def assert_alike(one: RawTake, other: RawTake) -> None:
    assert (one.num_frames, one.stop) == (other.num_frames, other.stop)
    assert np.abs(one.samples - other.samples).max() < CLOSE


def moves_counted(engine: Any) -> list[tuple[int, int]]:
    """The rows that the engine moves from slot to slot, from now on."""
    moves: list[tuple[int, int]] = []
    compact = engine._table.compact

    def watched() -> list[tuple[int, int]]:
        made: list[tuple[int, int]] = compact()
        moves.extend(made)
        return made

    engine._table.compact = watched
    return moves


def test_a_chunk_sounds_the_same_in_batches_of_any_size(voice: Voice, requests: list[Request]) -> None:
    """Alone in one slot, in two and sixteen, first and last in the queue."""
    first, *others = requests[2:]
    alone = speak(open_engine(voice, num_slots=1), [first])[first.key]
    for num_slots in (2, 3, 16):
        for queue in ([first, *others], [*others, first]):
            assert_alike(alone, speak(open_engine(voice, num_slots), queue)[first.key])


@pytest.mark.parametrize("num_slots", [4, 8, 16, 32])
def test_bytes_do_not_depend_on_the_number_of_slots_or_the_order(
    voice: Voice, requests: list[Request], expected: dict[str, RawTake], num_slots: int
) -> None:
    for queue in (requests[::-1], random.Random(num_slots).sample(requests, len(requests))):
        engine = open_engine(voice, num_slots)
        moves = moves_counted(engine)
        for key, take in speak(engine, queue).items():
            assert_same(expected[key], take)
        assert moves  # rows were moved while they spoke


def test_bytes_do_not_depend_on_whether_there_are_others(
    voice: Voice, requests: list[Request], expected: dict[str, RawTake]
) -> None:
    engine = open_engine(voice, num_slots=4)
    for request in requests:
        assert_same(expected[request.key], speak(engine, [request])[request.key])


def test_bytes_do_not_depend_on_when_a_row_comes_in(
    voice: Voice, requests: list[Request], expected: dict[str, RawTake]
) -> None:
    """A row that comes in beside rows in the middle of their speech, and those that come after all were done."""
    late, *others = requests
    engine = open_engine(voice, num_slots=8)
    for request in others[:4]:
        engine.admit(request)
    for _ in range(5):
        assert engine.step() == []
    engine.admit(late)
    takes: dict[str, RawTake] = {}
    while len(takes) < 5:
        takes |= {take.key: take for take in engine.step()}
    takes |= speak(engine, others[4:])
    assert len(takes) == len(requests)
    for key, take in takes.items():
        assert_same(expected[key], take)


def test_bytes_do_not_depend_on_threads_beside_the_backbones(
    voice: Voice, requests: list[Request], expected: dict[str, RawTake]
) -> None:
    for key, take in speak(open_engine(voice, num_slots=8, num_threads=4), requests).items():
        assert_same(expected[key], take)


def test_voices_share_a_batch_and_keep_their_bytes(tiny: MakeTiny, tmp_path: Path) -> None:
    """Three voices, of other lengths, mixed; each sounds as in an engine of its own."""
    model = tiny(flow="lsd")
    voices = [kyutai_voice(tmp_path, model)]
    for number, length in ((1, 3), (2, 33)):
        state = tmp_path / f"{number}.safetensors"
        generator = torch.Generator().manual_seed(number)
        save_file({"audio_prompt_latents": torch.randn(length, 32, generator=generator)}, state)
        voices.append(write_voice(tmp_path / f"{number}.yaml", model.kyutai_yaml, state))
    requests = requests_of(voices[0], TEXTS, temperature=0.3)
    own = [speak(open_engine(voice, num_slots=4), requests) for voice in voices]
    assert not np.array_equal(own[0]["4"].samples[:1920], own[1]["4"].samples[:1920])
    mixed = [dataclasses.replace(r, voice=voices[number % 3]) for number, r in enumerate(requests)]
    for num_slots in (4, 16):
        for number, queue in enumerate((mixed, mixed[::-1])):
            takes = speak(open_engine(voices[number], num_slots), queue)
            for number, request in enumerate(mixed):
                assert_same(own[number % 3][request.key], takes[request.key])


def test_bytes_in_bfloat16_do_not_depend_on_the_others_either(tiny: MakeTiny, tmp_path: Path) -> None:
    voice = kyutai_voice(tmp_path, tiny(flow="lsd"), dtype="bfloat16")
    requests = requests_of(voice, TEXTS, temperature=0.3)
    rest = [dataclasses.replace(request, key=f"{request.key}+", seed=100) for request in requests]
    queues = [[*requests, *rest], [*requests[::-1], *rest], [*random.Random(1).sample(requests, len(requests)), *rest]]
    expected, *others = (speak(open_engine(voice, num_slots=8), queue) for queue in queues)
    for takes in others:
        for request in requests:
            assert_same(expected[request.key], takes[request.key])


def test_a_shape_for_accelerators_sounds_the_same(
    voice: Voice, requests: list[Request], expected: dict[str, RawTake]
) -> None:
    """All slots and positions in every step, and rows asked only every fourth: what an accelerator does."""
    engine = open_engine(voice, num_slots=4)
    static = dataclasses.replace(engine._shape, window=64, steps_unread=4, is_static=True)
    model = open_model(voice.options["model"])
    _, encode = model.open_text(fetch=False)
    other = PocketEngine(model.load(fetch=False), model.sampling, encode, engine._prefix_of, static)
    for key, take in speak(other, requests).items():
        assert_alike(expected[key], take)


# At the sizes of released models, since kernels are chosen by size

GEOMETRIES = {
    "english": (1024, 16, 16, 4096, 512),
    "english_18m": (512, 8, 8, 512, 192),
    "english_2m": (112, 3, 1, 96, 64),
}
"""Width, heads, heads for keys and values, width of the feedforward and of the flow head, of one or two layers."""


def sized(tiny: Checkpoint, name: str) -> Checkpoint:
    """Random weights of a released model's widths, with the codec of a tiny one."""
    width, heads, kv_heads, wide, flow = GEOMETRIES[name]
    num_layers, head_dim = 1 if width > 512 else 2, 64
    generator = torch.Generator().manual_seed(0)

    def random_(*size: int, scale: float = 1.0) -> torch.Tensor:
        return scale * torch.randn(size, generator=generator) / size[-1] ** 0.5

    tensors = {name: tensor for name, tensor in tiny.weights.items() if name.startswith("codec.")}
    tensors |= {
        "text.embedding": 10 * random_(tiny.weights["text.embedding"].shape[0], width),
        "latent.projection": random_(width, 32),
        "latent.bos": 5 * random_(32),
        "heads.eos.weight": random_(1, width),
        "heads.eos.bias": torch.zeros(1),
        "backbone.norm.weight": torch.ones(width),
        "backbone.norm.bias": torch.zeros(width),
    }
    for number in range(num_layers):
        layer = f"backbone.layers.{number}."
        tensors |= {
            f"{layer}qkv.weight": random_((heads + 2 * kv_heads) * head_dim, width),
            f"{layer}out.weight": random_(width, heads * head_dim),
            f"{layer}widen.weight": random_(wide, width),
            f"{layer}narrow.weight": random_(width, wide),
        }
        for norm in ("attention_norm", "feedforward_norm"):
            tensors |= {f"{layer}{norm}.weight": torch.ones(width), f"{layer}{norm}.bias": torch.zeros(width)}
    linears = {
        "input": (flow, 32),
        "condition": (flow, width),
        "final.output": (32, flow),
        "final.modulation": (2 * flow, flow),
        "blocks.0.fc1": (flow, flow),
        "blocks.0.fc2": (flow, flow),
        "blocks.0.modulation": (3 * flow, flow),
    }
    for name, size in linears.items():
        tensors[f"heads.flow.{name}.weight"] = random_(*size, scale=0.5)
        tensors[f"heads.flow.{name}.bias"] = torch.zeros(size[0])
    tensors |= {"heads.flow.blocks.0.norm.weight": torch.ones(flow), "heads.flow.blocks.0.norm.bias": torch.zeros(flow)}
    backbone = TransformerGeometry(num_layers, heads, kv_heads, head_dim, 10_000.0)
    geometry = dataclasses.replace(tiny.geometry, backbone=backbone, flow="drifting")
    return Checkpoint(geometry, Weights(tensors))


def random_prefix(geometry: TransformerGeometry, length: int) -> Prefix:
    generator = torch.Generator().manual_seed(length)
    size = (geometry.num_kv_heads, length, geometry.head_dim)
    keys, values = ([torch.randn(size, generator=generator) for _ in range(geometry.num_layers)] for _ in range(2))
    return Prefix.of(keys, values, torch.device("cpu"))


@pytest.fixture(scope="module", params=GEOMETRIES)
def checkpoint(request: pytest.FixtureRequest, tiny: MakeTiny) -> Checkpoint:
    return sized(open_model(str(tiny(flow="lsd").kyutai_yaml)).load(fetch=False), request.param)


OpenSized = Callable[[int, torch.dtype], PocketEngine]


@pytest.fixture
def open_sized(checkpoint: Checkpoint) -> OpenSized:
    """An engine whose requests are in one of two voices, by the parity of their key; a text is its tokens.

    What it gives as samples are the latents: the codec, which decodes each row by itself, is left out.
    """
    prefixes = [random_prefix(checkpoint.geometry.backbone, length) for length in (125, 60)]

    def open_(num_slots: int, dtype: torch.dtype) -> PocketEngine:
        engine = PocketEngine(
            checkpoint,
            Sampling(),
            lambda text: [int(word) for word in text.split()],
            lambda request, _: prefixes[int(request.key) % 2],
            shape_for(torch.device("cpu"), dtype, Hardware("cpu", 1, num_slots)),
        )
        engine._decoder.decode = lambda latents, state: latents.flatten()  # type: ignore[method-assign]
        return engine

    return open_


def sized_requests(num_tokens: Sequence[int]) -> list[Request]:
    """Requests that end by their budgets alone."""
    draw = random.Random(0)
    return [
        Request(
            str(number), " ".join(str(draw.randrange(4, 120)) for _ in range(count)), 0, number,
            draw.randrange(4, 18), {"eos_threshold": 1e9},
        )
        for number, count in enumerate(num_tokens)
    ]  # fmt: skip


def test_bytes_are_the_same_at_released_widths(open_sized: OpenSized) -> None:
    requests = sized_requests([1, 2, 3, 4, 7, 15, 16, 31, 60, 2, 1])
    alone = open_sized(4, torch.float32)
    expected = {request.key: speak(alone, [request])[request.key] for request in requests}
    for num_slots, queue in ((4, requests), (8, requests[::-1]), (32, requests)):
        for key, take in speak(open_sized(num_slots, torch.float32), queue).items():
            assert_same(expected[key], take)


def test_bytes_in_bfloat16_are_the_same_at_released_widths(open_sized: OpenSized) -> None:
    """With up to 32 slots, whoever comes in with a row and is read beside it, in the drain too."""
    draw = random.Random(5)
    requests = sized_requests([draw.randrange(3, 50) for _ in range(24)])
    expected = speak(open_sized(8, torch.bfloat16), requests)
    for num_slots, queue in ((8, requests[::-1]), (4, requests), (32, requests), (16, requests[:5])):
        for key, take in speak(open_sized(num_slots, torch.bfloat16), queue).items():
            assert_same(expected[key], take)


def test_steps_in_bfloat16_have_the_same_bytes_in_any_batch(checkpoint: Checkpoint) -> None:
    """A row's frame doesn't depend on the number of rows, up to 32 of them, nor on the others' lengths."""
    geometry = checkpoint.geometry.backbone
    backbone = Backbone(checkpoint.weights.under("backbone"), geometry, torch.bfloat16)
    prefix = random_prefix(geometry, 125)
    generator = torch.Generator().manual_seed(0)
    slots = KeyValues(geometry, 32, 128, torch.device("cpu"))
    for store in (*slots.keys, *slots.values):
        store.normal_(generator=generator)
    x = torch.randn(32, checkpoint.weights["latent.bos"].shape[0], generator=generator)
    x = x @ checkpoint.weights["latent.projection"].T
    positions = torch.randint(4, 100, (32,), generator=generator)
    expected = backbone.step(x, positions, int(positions.max()) + 1, slots, {prefix: None})
    for num_rows in (4, 7, 8, 16, 31):
        longest = int(positions[:num_rows].max()) + 1
        hidden = backbone.step(x[:num_rows], positions[:num_rows], longest, slots, {prefix: None})
        assert torch.equal(hidden, expected[:num_rows])
