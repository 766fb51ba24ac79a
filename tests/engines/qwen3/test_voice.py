"""Voices of Qwen3-TTS before any weight is read: what is right, what is said of what isn't, and what is counted."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from huggingface_hub.utils import filter_repo_objects

from pipeline.engines import hub, registry
from pipeline.engines.qwen3 import PACKAGES, Options, choose_language, locate_checkpoint
from pipeline.errors import RenderBookError, VoiceError
from pipeline.profile import read_profile
from pipeline.render.environment import cluster_environment, explain_failure
from pipeline.script.script import Boundary
from pipeline.voices import Voice
from tests.conftest import Ran
from tests.engines.qwen3.checkpoints import write_tokenizer

CONFIG: dict[str, Any] = {
    "model_type": "qwen3_tts",
    "tts_model_type": "custom_voice",
    "talker_config": {
        "vocab_size": 1088,
        "codec_eos_token_id": 70,
        "spk_id": {"ada": 80, "ben": 81},
        "codec_language_id": {"english": 77, "german": 78, "beijing_dialect": 79},
    },
}
CODEC = {"model_type": "qwen3_tts_tokenizer_12hz"}


def write_checkpoint(folder: Path, codec: dict[str, Any] = CODEC, **changes: Any) -> Path:
    (folder / "speech_tokenizer").mkdir(parents=True)
    write_tokenizer(folder)
    talker = CONFIG["talker_config"] | changes.pop("talker_config", {})
    (folder / "config.json").write_text(json.dumps(CONFIG | changes | {"talker_config": talker}))
    (folder / "generation_config.json").write_text("{}")
    (folder / "model.safetensors").write_bytes(b"weights")
    (folder / "speech_tokenizer" / "config.json").write_text(json.dumps(codec))
    (folder / "speech_tokenizer" / "preprocessor_config.json").write_text("{}")
    (folder / "speech_tokenizer" / "model.safetensors").write_bytes(b"codec")
    return folder


def voice_of(folder: Path, of_voice: str = "en", **options: Any) -> Voice:
    said = {"model": "model", "speaker": "ada"} | options
    said = {name: value for name, value in said.items() if value is not None}
    return Voice("mine", "qwen3", "d", of_voice, "CC0-1.0", "", said, folder)


def test_a_voice_is_opened_without_torch_weights_or_package(tmp_path):
    write_checkpoint(tmp_path / "model")
    frontend = registry.open_frontend(voice_of(tmp_path))
    assert (frontend.spec.name, frontend.spec.sample_rate) == ("qwen3", 24_000)
    assert frontend.prepare("It rained,\n all night", Boundary.CLAUSE) == "It rained, all night."
    assert frontend.num_tokens("assistant") == 1
    assert frontend.num_tokens("<|im_end|>") == len("<|im_end|>"), "a book that spells a special token doesn't say it"
    assert frontend.budget("a" * 20) == (10 * 20 + 10) * 12.5
    registry.check_model(voice_of(tmp_path))


def test_what_changes_the_sound_changes_the_revision(tmp_path):
    write_checkpoint(tmp_path / "model")
    write_checkpoint(tmp_path / "other")
    (tmp_path / "other" / "model.safetensors").write_bytes(b"weighty")

    def revision(**options: Any) -> str:
        return registry.open_frontend(voice_of(tmp_path, **options)).spec.revision

    same = {revision(), revision(speaker="Ada"), revision(language="english")}
    others = {revision(speaker="ben"), revision(language="auto"), revision(dtype="float32"), revision(model="other")}
    assert len(same) == 1
    assert len(others | same) == 5


@pytest.mark.parametrize(
    ("changes", "options", "said"),
    [
        ({}, {"speaker": "eve"}, "no speaker 'eve': set options.speaker to one of ada, ben"),
        ({}, {"speaker": None}, "one of ada, ben"),
        ({}, {"language": "dutch"}, "no language 'dutch': set options.language to auto or one of english, german"),
        ({}, {"recording": "said.wav"}, "take a Base checkpoint"),
        ({}, {"model": "nowhere"}, "needs nowhere, which isn't here"),
        ({"tts_model_type": "base"}, {}, "give options.recording"),
        ({"tts_model_type": "base"}, {"speaker": None}, "give options.recording"),
        ({"tts_model_type": "base"}, {"speaker": None, "recording": "said.wav"}, "correct options.recording"),
        ({"tts_model_type": "voice_design"}, {}, "'voice_design': the engine qwen3 needs a CustomVoice or a Base"),
        ({"model_type": "qwen2"}, {}, "needs a CustomVoice or a Base"),
        ({"talker_config": {"codec_eos_token_id": 4198}}, {}, "(4198) is no token of its 1088"),
        ({"talker_config": {"codec_eos_token_id": None}}, {}, "correct it"),
        ({"codec": {"model_type": "qwen3_tts_tokenizer_25hz"}}, {}, "that of 12 Hz"),
    ],
)
def test_what_is_wrong_is_said_in_a_sentence_with_a_remedy(tmp_path, changes, options, said):
    write_checkpoint(tmp_path / "model", **changes)
    with pytest.raises(VoiceError) as raised:
        registry.open_frontend(voice_of(tmp_path, **options))
    assert said in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_checkpoint_without_one_of_its_files_is_named_with_it(tmp_path):
    for name in ("speech_tokenizer/model.safetensors", "merges.txt", "generation_config.json"):
        folder = write_checkpoint(tmp_path / name.replace("/", "-"))
        (folder / name).unlink()
        with pytest.raises(VoiceError, match="isn't a whole Qwen3-TTS checkpoint"):
            registry.open_frontend(voice_of(tmp_path, model=folder.name))


def test_files_that_hold_something_else_are_said_to(tmp_path):
    for name in ("config.json", "speech_tokenizer/config.json", "vocab.json"):
        folder = write_checkpoint(tmp_path / name.replace("/", "-"))
        (folder / name).write_text("<html>")
        with pytest.raises(VoiceError, match="fetch the checkpoint again"):
            registry.open_frontend(voice_of(tmp_path, model=folder.name))


@pytest.mark.parametrize(
    ("of_voice", "option", "chosen"),
    [
        ("en", "", "english"),
        ("de-AT", "", "german"),
        ("nl", "", "auto"),
        ("en", "auto", "auto"),
        ("en", "German", "german"),
    ],
)
def test_the_language_is_the_voices_own_unless_it_says_another(tmp_path, of_voice, option, chosen):
    write_checkpoint(tmp_path / "model")
    voice = voice_of(tmp_path, of_voice, language=option)
    options = voice.options_as(Options)
    assert choose_language(voice, options, locate_checkpoint(voice, options, fetch=False)) == chosen


def test_what_the_hub_is_asked_for_is_a_whole_checkpoint(monkeypatch):
    """The speech tokenizer lies in a folder of its own, and merges.txt is no JSON."""
    asked: dict[str, Any] = {}

    def snapshot_download(repo: str, **said: Any) -> str:
        asked.update(said, repo=repo)
        raise OSError("no network")

    monkeypatch.setattr("huggingface_hub.snapshot_download", snapshot_download)
    with pytest.raises((hub.MissingFile, OSError)):
        hub.locate_folder("owner/model@abc", fetch=True)
    files = [
        "config.json",
        "vocab.json",
        "merges.txt",
        "speech_tokenizer/config.json",
        "speech_tokenizer/model.safetensors",
    ]
    wanted = filter_repo_objects(
        [*files, "README.md", "model.bin"],
        allow_patterns=asked["allow_patterns"],
        ignore_patterns=asked["ignore_patterns"],
    )
    assert sorted(wanted) == sorted(files)


def test_a_book_is_planned_with_it_and_a_missing_model_ends_the_run(command: Callable[..., Ran], tmp_path, small_book):
    voice = tmp_path / "mine.yaml"
    voice.write_text("engine: qwen3\nlanguage: en\nlicence: CC0-1.0\noptions: {model: model, speaker: ada}\n")
    ran = command("plan", small_book, "--voice", voice)
    assert ran.code == VoiceError.exit_code, "there is no such model"
    write_checkpoint(tmp_path / "model")
    ran = command("plan", small_book, "--voice", voice)
    assert ran.code == 0, ran.err


def test_its_profile_is_in_the_key_but_for_where_it_runs():
    sampling = read_profile(None).engine("qwen3").sampling()
    assert sampling["repetition_penalty"] == 1.05
    assert (sampling["top_k"], sampling["inner_top_k"], sampling["temperature"]) == (200, 50, 0.9)
    assert not {"device", "slots", "model", "dtype"} & set(sampling)


@pytest.mark.parametrize(
    ("told", "said"),
    [
        (
            "ERROR: Could not find x\nERROR: No matching distribution found for x==1\n",
            "(No matching distribution found",
        ),
        ("RuntimeError: Please install virtualenv `python -m pip install virtualenv`to enable", "'render-book[qwen3]'"),
        ("/usr/bin/python: No module named pip", "'render-book[qwen3]'"),
        ("OSError: [Errno 28] No space left on device: 'x'", "(no space is left)"),
        ("", "PIP_INDEX_URL"),
    ],
)
def test_why_an_environment_is_not_built_is_one_sentence(told, said):
    sentence = explain_failure("qwen3", PACKAGES, told)
    assert said in sentence
    assert sentence.startswith("The engine qwen3 needs an environment of its own (qwen-tts==0.1.1, ")
    assert "\n" not in sentence


def test_only_engines_that_say_so_have_an_environment_of_their_own():
    assert registry.packages_of("qwen3") == PACKAGES
    assert not any(registry.packages_of(name) for name in registry.engine_names() if name != "qwen3")
    assert cluster_environment(PACKAGES)["pip"]["packages"] == list(PACKAGES)
    assert all("==" in package for package in PACKAGES), "what is heard depends on them"
    assert issubclass(VoiceError, RenderBookError)
