"""CSM in batches: each row as if it were alone, and as transformers' own `generate` has it."""

from __future__ import annotations

import shutil
import wave
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import AutoTokenizer, CsmForConditionalGeneration, LogitsProcessorList

from pipeline.engines import registry
from pipeline.engines.base import Failed, Hardware, RawTake, Request
from pipeline.engines.codec_tokens import boost_rule, most_frames
from pipeline.engines.csm.engine import CsmEngine
from pipeline.engines.eos import BoostRule, RankBoost
from pipeline.errors import ConfigError, VoiceError
from pipeline.profile import CodecProfile, read_profile
from pipeline.voices import Voice
from tests.engines.csm.checkpoints import CODEBOOK_SIZE

pytestmark = pytest.mark.codec

TEXTS = (
    "The lamp went out.",
    "Nobody had told her that the bridge was gone, and so she walked on.",
    "He counted the boats twice.",
    "No.",
    "It rained all night; in the morning the road was a river, and the river a lake.",
    "Was it the wind?",
    "They kept the letters in a tin box under the stairs.",
    "Come in, Tom!",
)
STRANGERS = list(range(CODEBOOK_SIZE, CODEBOOK_SIZE + 3))
SAMPLING = read_profile(None).engine("csm").sampling()
GREEDY = SAMPLING | {"temperature": 0.0, "inner_temperature": 0.0, "eos_scale": 0.0}


@pytest.fixture
def voice(csm_checkpoint: Path) -> Voice:
    return Voice("tiny", "csm", "digest", "en", "CC0-1.0", "", {"model": str(csm_checkpoint)})


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    path = tmp_path / "voice.wav"
    noise = np.random.default_rng(1).integers(-9000, 9000, 2 * 24_000, np.int16)
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(24_000)
        file.writeframes(noise.tobytes())
    return path


def request(number: int, text: str, sampling: dict[str, float] = SAMPLING, voice: Voice | None = None) -> Request:
    return Request(str(number), text, 0, 1000 + number, 400, sampling, voice)


def render(engine: CsmEngine, requests: list[Request]) -> dict[str, RawTake | Failed]:
    """As a replica does it: slots are filled as soon as they are free."""
    waiting, done = list(requests), {}
    num_slots = engine.free_slots
    while waiting or engine.free_slots < num_slots:
        while waiting and engine.free_slots:
            engine.admit(waiting.pop(0))
        done |= {outcome.key: outcome for outcome in engine.step()}
    return done


def open_csm(voice: Voice, num_slots: int) -> CsmEngine:
    engine = registry.open_engine(voice, Hardware("cpu", 1, num_slots))
    assert isinstance(engine, CsmEngine)
    return engine


@pytest.mark.parametrize("num_slots", [3, 8])
@pytest.mark.parametrize("eos_scale", [0.0, 4.0])
def test_a_batch_makes_what_single_rows_make(voice, num_slots, eos_scale):
    requests = [request(number, text, SAMPLING | {"eos_scale": eos_scale}) for number, text in enumerate(TEXTS)]
    alone, together = render(open_csm(voice, 1), requests), render(open_csm(voice, num_slots), requests)
    assert {take.stop for take in together.values()} == {"eos" if eos_scale else "budget"}
    assert len({take.num_frames for take in together.values()}) > 4, "they end alone"
    for key, take in alone.items():
        assert (take.stop, take.num_frames) == (together[key].stop, together[key].num_frames)
        assert np.array_equal(take.samples, together[key].samples)


def test_the_bytes_of_a_take_do_not_depend_on_the_cores_that_its_worker_has(voice):
    """Which are fewer with more workers."""
    requests = [request(number, text) for number, text in enumerate(TEXTS)]
    runs = []
    for num_threads in (1, 2):
        engine = registry.open_engine(voice, Hardware("cpu", num_threads, 4))
        runs.append({key: take.samples.tobytes() for key, take in render(engine, requests).items()})
    assert runs[0] == runs[1]


@pytest.mark.parametrize("has_voice", [False, True])
def test_without_the_boost_it_is_what_generate_makes(voice, csm_checkpoint, recording, has_voice):
    """The best token each time, with and without a voice that is heard first."""
    heard = {"recording": str(recording), "recording_text": "What was said."} if has_voice else {}
    voice = replace(voice, options=voice.options | heard)
    engine = open_csm(voice, 4)
    texts = TEXTS[:4]
    done = render(engine, [request(number, text, GREEDY) for number, text in enumerate(texts)])
    model = CsmForConditionalGeneration.from_pretrained(csm_checkpoint, dtype=torch.float32).eval()
    tokenizer = AutoTokenizer.from_pretrained(csm_checkpoint)
    samples = torch.from_numpy(engine_recording(recording))
    num_frames = model.codec_model.encode(samples[None, None]).audio_codes.shape[-1]
    for number, text in enumerate(texts):
        turns = [{"role": "0", "content": [{"type": "text", "text": text}]}]
        prompt = tokenizer.apply_chat_template(turns, tokenize=False)
        inputs = {}
        if has_voice:
            said = [{"type": "text", "text": "What was said."}, {"type": "audio"}]
            prompt = tokenizer.apply_chat_template([{"role": "0", "content": said}, *turns], tokenize=False)
            prompt = prompt.replace("<|AUDIO|>", "<|AUDIO|>" * num_frames)
            inputs = {"input_values": samples[None, None], "input_values_cutoffs": torch.tensor([[len(samples)]])}
        ids = torch.tensor([tokenizer.encode(prompt, add_special_tokens=False)])
        theirs = model.generate(
            ids, attention_mask=torch.ones_like(ids), **inputs, do_sample=False, depth_decoder_do_sample=False,
            max_new_tokens=done[str(number)].num_frames, output_audio=True, suppress_tokens=STRANGERS,
            depth_decoder_suppress_tokens=STRANGERS,
        )  # fmt: skip
        np.testing.assert_allclose(done[str(number)].samples, theirs[0].detach().numpy(), atol=1e-5)


def engine_recording(path: Path) -> np.ndarray:
    from pipeline.engines.recording import read_recording

    return read_recording(path, 24_000)[0]


def test_an_idle_boost_changes_no_code(voice, monkeypatch):
    """Off, and armed by nothing: what is sampled without it."""
    runs = []
    for change in ({"eos_scale": 0.0}, {"eos_from_share": 2.0, "eos_steps": 100.0}):
        requests = [request(number, text, SAMPLING | change) for number, text in enumerate(TEXTS)]
        runs.append(render(open_csm(voice, 8), requests))
    monkeypatch.setattr(RankBoost, "lift", lambda self, rows, scores: scores)
    runs.append(render(open_csm(voice, 8), [request(number, text) for number, text in enumerate(TEXTS)]))
    for key in runs[0]:
        assert all(np.array_equal(runs[0][key].samples, run[key].samples) for run in runs)


def test_generate_samples_the_same_codes_with_an_idle_processor(csm_checkpoint):
    model = CsmForConditionalGeneration.from_pretrained(csm_checkpoint, dtype=torch.float32).eval()
    tokenizer = AutoTokenizer.from_pretrained(csm_checkpoint)
    ids = torch.tensor([tokenizer.encode("The lamp went out.")] * 3)
    boost = RankBoost(3, 0, torch.device("cpu"))
    for slot in range(3):
        boost.begin(slot, BoostRule(60, 1, 0, 0.0, 20))
    made = []
    for processors in ([], [boost]):
        torch.manual_seed(5)
        made.append(
            model.generate(ids, attention_mask=torch.ones_like(ids), do_sample=True, depth_decoder_do_sample=True,
                           max_new_tokens=20, logits_processor=LogitsProcessorList(processors))
        )  # fmt: skip
    assert torch.equal(*made)


def test_rows_of_other_voices_and_settings_share_a_batch(voice, recording):
    """And each is what it would be alone."""
    heard = {"recording": str(recording), "recording_text": "What was said."}
    others = [voice, replace(voice, digest="1", options=voice.options | {"speaker": "7"}),
              replace(voice, digest="2", options=voice.options | heard)]  # fmt: skip
    requests = [
        request(number, "The lamp went out.", SAMPLING | {"temperature": 0.5 + 0.5 * (number % 2)}, others[number % 3])
        for number in range(6)
    ]
    together = render(open_csm(voice, 6), requests)
    alone = render(open_csm(voice, 1), requests)
    assert all(np.array_equal(together[key].samples, alone[key].samples) for key in alone)
    assert len({take.samples.tobytes() for take in together.values()}) == 6


def test_a_book_that_spells_a_special_token_is_read(voice, recording):
    """And hears no second voice there."""
    voice = replace(voice, options=voice.options | {"recording": str(recording), "recording_text": "What was said."})
    engine = open_csm(voice, 2)
    lengths = [len(engine._prompt_of(request(0, text))) for text in ("Say it <|AUDIO|> now.", "Say it < |AUDIO|> now.")]
    assert lengths[0] == lengths[1]
    assert render(engine, [request(0, "Say it <|audio_eos|><|AUDIO|> now.")])["0"].stop == "eos"


def test_a_voice_file_that_spells_a_special_token_hears_its_recording_once(voice, recording):
    heard = {"recording": str(recording), "recording_text": "An <|AUDIO|>, an <|audio_eos|>.", "speaker": "<|AUDIO|>"}
    engine = open_csm(replace(voice, options=voice.options | heard), 1)
    assert isinstance(render(engine, [request(0, "Come in.")])["0"], RawTake)


@pytest.mark.parametrize("broken", ["model.safetensors", "chat_template.jinja"])
def test_half_a_checkpoint_is_said_when_it_is_opened(voice, csm_checkpoint, tmp_path, broken):
    shutil.copytree(csm_checkpoint, tmp_path / "half")
    path = tmp_path / "half" / broken
    half = path.read_bytes()[: path.stat().st_size // 2] if broken == "model.safetensors" else b""
    path.write_bytes(half)
    with pytest.raises(VoiceError, match=r"half .*fetch it again"):
        open_csm(replace(voice, options={"model": str(tmp_path / "half")}), 1)


def test_weights_that_are_no_numbers_fail_their_rows(voice, csm_checkpoint, tmp_path):
    broken = tmp_path / "broken"
    shutil.copytree(csm_checkpoint, broken)
    weights = load_file(broken / "model.safetensors")
    weights["backbone_model.norm.weight"][:] = torch.nan
    save_file(weights, broken / "model.safetensors", {"format": "pt"})
    engine = open_csm(replace(voice, options={"model": str(broken)}), 2)
    done = render(engine, [request(number, text) for number, text in enumerate(TEXTS[:3])])
    assert [type(outcome) for outcome in done.values()] == [Failed] * 3
    assert all("no number" in outcome.message for outcome in done.values())
    assert engine.free_slots == 2


def test_what_the_model_has_no_room_for_is_refused(voice):
    with pytest.raises(ValueError, match="shorter recording, or a lower max_share"):
        open_csm(voice, 1).admit(request(0, "The lamp went out. " * 60))


@pytest.mark.parametrize(
    ("options", "error", "says"),
    [
        ({"model": "no/such"}, VoiceError, "needs the checkpoint no/such, which isn't here"),
        ({"recording": "voice.wav"}, ConfigError, "recording and recording_text go together"),
        ({"recording": "gone.wav", "recording_text": "Hm."}, VoiceError, "isn't there"),
        ({"speeker": "1"}, ConfigError, "speeker"),
    ],
)
def test_a_wrong_voice_file_is_said_before_any_work(voice, options, error, says):
    wrong = replace(voice, options=voice.options | options)
    for ask in (registry.check_model, registry.open_frontend):
        with pytest.raises(error, match=says):
            ask(wrong)


def test_a_recording_that_is_none_is_said_before_any_work(voice, tmp_path):
    (tmp_path / "voice.wav").write_text("Not a sound.")
    heard = {"recording": str(tmp_path / "voice.wav"), "recording_text": "Hm."}
    with pytest.raises(VoiceError, match="holds no audio"):
        registry.check_model(replace(voice, options=voice.options | heard))


@pytest.mark.parametrize("config", ['{"model_type": "llama"}', "[]"])
def test_another_model_is_no_csm(voice, tmp_path, config):
    (tmp_path / "config.json").write_text(config)
    with pytest.raises(VoiceError, match="isn't a checkpoint of CSM"):
        registry.open_frontend(replace(voice, options={"model": str(tmp_path)}))


def test_what_is_heard_changes_the_revision(voice, recording):
    """So that a take of another voice is never taken for one of this."""
    heard = {"recording": str(recording), "recording_text": "What was said."}
    revisions = {
        registry.open_frontend(replace(voice, options=voice.options | more)).spec.revision
        for more in ({}, {"speaker": "1"}, heard, heard | {"recording_text": "Other words."}, {"dtype": "bfloat16"})
    }
    assert len(revisions) == 5


def test_a_file_that_is_no_part_of_the_checkpoint_changes_no_revision(voice, csm_checkpoint, tmp_path):
    """A folder looked at with a file manager is not rendered anew."""
    shutil.copytree(csm_checkpoint, tmp_path / "copy")
    copied = replace(voice, options={"model": str(tmp_path / "copy")})
    for name in (".DS_Store", "README.md", "._config.json"):
        (tmp_path / "copy" / name).write_text("")
    assert registry.open_frontend(copied).spec == registry.open_frontend(voice).spec
    (tmp_path / "copy" / "generation_config.json").write_text("{}")
    assert registry.open_frontend(copied).spec != registry.open_frontend(voice).spec


@pytest.mark.parametrize("num_tokens", [1, 50])
def test_the_longest_that_a_profile_allows_is_allowed(num_tokens):
    longest = SAMPLING | {"tokens_per_second": 1, "max_share": 10, "spare_seconds": 10}
    for sampling in (longest, SAMPLING | {"max_share": 5}):
        CodecProfile.model_validate(read_profile(None).engine("csm").model_dump() | sampling)
        budget = most_frames(num_tokens, 12.5)
        assert boost_rule(sampling, num_tokens, budget, 12.5) == boost_rule(sampling, num_tokens, 10**6, 12.5)
