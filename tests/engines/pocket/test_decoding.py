"""The codec in windows: Kyutai's sound, the same at any split and from any thread; a fault in it is heard of."""

from __future__ import annotations

import functools
import random
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from pipeline.engines.base import Request
from pipeline.engines.pocket.codec import CodecState, Decoder
from pipeline.engines.pocket.decoding import Decoding, Sounding
from pipeline.engines.pocket.model import open_model
from tests.engines.pocket.conftest import MakeTiny, kyutai_voice, open_engine, requests_of, speak, transformers_voice

if TYPE_CHECKING:
    from tests.engines.pocket.checkpoints import TinyModel

pytestmark = [pytest.mark.pocket, pytest.mark.usefixtures("one_thread")]

NUM_FRAMES = 24
FRAME = 1_920


@pytest.fixture(scope="module", params=["usual", "small"])
def model(request: pytest.FixtureRequest, tiny: MakeTiny) -> TinyModel:
    return tiny(flow="drifting", small=True) if request.param == "small" else tiny(flow="lsd")


@pytest.fixture(scope="module")
def decoder(model: TinyModel) -> Decoder:
    checkpoint = open_model(str(model.kyutai_yaml)).load(fetch=False)
    return Decoder(checkpoint.weights.under("codec"), checkpoint.geometry.codec, torch.float32)


@functools.cache
def latents_of(row: int) -> Tensor:
    """A row's normalised latents; rows have other lengths."""
    return torch.randn(NUM_FRAMES - row, 32, generator=torch.Generator().manual_seed(row))


@torch.inference_mode()
def decode(decoder: Decoder, latents: Tensor, sizes: Sequence[int]) -> Tensor:
    """In windows of these sizes, the rest as the last."""
    state, parts = CodecState(), []
    for size in [*sizes, len(latents) - sum(sizes)]:
        if size:
            parts.append(decoder.decode(latents[:size], state))
            latents = latents[size:]
    return torch.cat(parts)


def splits_of(num_frames: int) -> st.SearchStrategy[list[int]]:
    cuts = st.sets(st.integers(1, num_frames - 1)).map(sorted)
    return cuts.map(lambda ends: [end - start for start, end in zip([0, *ends], ends, strict=False)])


@settings(max_examples=12, deadline=None)
@given(splits_of(NUM_FRAMES))
def test_a_row_sounds_the_same_at_any_split(decoder: Decoder, sizes: list[int]) -> None:
    whole = decode(decoder, latents_of(0), [])
    split = decode(decoder, latents_of(0), sizes)
    assert split.shape == whole.shape == (NUM_FRAMES * FRAME,)
    assert float((split - whole).abs().max()) < 1e-5
    assert torch.equal(split, decode(decoder, latents_of(0), sizes))


def test_samples_are_those_of_kyutais_codec_in_one_go(model: TinyModel, decoder: Decoder) -> None:
    from pocket_tts import TTSModel
    from pocket_tts.modules.stateful_module import init_states

    upstream = TTSModel.load_model(config=model.kyutai_yaml)
    state = init_states(upstream.mimi, batch_size=1, sequence_length=NUM_FRAMES * 16)
    latents = latents_of(0) * upstream.flow_lm.emb_std + upstream.flow_lm.emb_mean
    with torch.no_grad():
        theirs = upstream.mimi.decode_from_latent(latents[None], state)[0, 0]
    for sizes in ([], [16], [1, 1, 1, 5]):
        assert float((decode(decoder, latents_of(0), sizes) - theirs).abs().max()) < 1e-5


@pytest.mark.parametrize("num_threads", [0, 1, 3])
def test_rows_decoded_by_any_number_of_threads_have_the_same_bytes(decoder: Decoder, num_threads: int) -> None:
    """Rows whose windows come in turn and out of step, beside a caller who decodes too."""
    num_rows = 12
    decoding = Decoding(decoder, num_threads)
    rows = [Sounding(Request(str(number), "", 0, 0, NUM_FRAMES)) for number in range(num_rows)]
    draw = random.Random(num_threads)
    open_, finished = list(range(num_rows)), []
    while open_:
        number = draw.choice(open_)
        row, latents = rows[number], latents_of(number)
        decoding.push(row, latents[row.num_frames : row.num_frames + 5])
        if row.num_frames == len(latents):
            open_.remove(number)
            decoding.finish(row, "eos")
        if draw.random() < 0.3:
            decoding.run_one()
        finished += decoding.take_finished(wait=False)
    while len(finished) < num_rows:
        finished += within_seconds(20, lambda: decoding.take_finished(wait=True))
    assert sorted(map(id, finished)) == sorted(map(id, rows))
    assert decoding.num_pending == 0
    for number, row in enumerate(rows):
        latents = latents_of(number)
        assert torch.equal(torch.cat(row.samples), decode(decoder, latents, [5] * (len(latents) // 5)))


def within_seconds(timeout: float, call: Callable[[], Any]) -> Any:
    """What a call returns or raises; a failure if it does neither in time."""
    done: list[tuple[Any, BaseException | None]] = []

    def attempt() -> None:
        try:
            done.append((call(), None))
        except BaseException as error:  # noqa: BLE001 - raised again by whoever waits
            done.append((None, error))

    thread = threading.Thread(target=attempt, daemon=True)
    thread.start()
    thread.join(timeout)
    assert done, f"no answer within {timeout} s"
    result, error = done[0]
    if error is not None:
        raise error
    return result


@pytest.mark.parametrize("num_cores", [1, 2, 4])
@pytest.mark.parametrize("failing", [1, 3, 6])
def test_a_fault_in_the_codec_reaches_whoever_steps(
    tiny: MakeTiny, tmp_path: Path, num_cores: int, failing: int
) -> None:
    """In whichever window and thread it happens; rows that are decoded already are not the last word."""
    voice = kyutai_voice(tmp_path, tiny(flow="lsd"))
    engine = open_engine(voice, num_slots=2, num_threads=num_cores)
    decode, lock, calls = engine._decoder.decode, threading.Lock(), 0

    def fails_once(latents: Tensor, state: CodecState) -> Tensor:
        nonlocal calls
        with lock:
            calls += 1
            if calls == failing:
                raise MemoryError("no room for the codec")
        samples: Tensor = decode(latents, state)
        return samples

    engine._decoder.decode = fails_once
    requests = requests_of(voice, ["Was it the wind, or was there somebody in the garden?", "Come in, Tom!"] * 3)
    with pytest.raises(MemoryError, match="no room for the codec"):
        within_seconds(20, lambda: speak(engine, requests))


def test_the_codec_of_either_format_is_the_same(tiny: MakeTiny, tmp_path: Path) -> None:
    one, other = (
        decode(open_engine(voice)._decoder, latents_of(0), [])
        for voice in (kyutai_voice(tmp_path, tiny(flow="lsd")), transformers_voice(tmp_path, tiny(flow="lsd")))
    )
    assert float((one - other).abs().max()) < 1e-5
