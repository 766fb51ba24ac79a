"""What we know of Kyutai's models is what its package says of them, and where its files lie; without any network."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import huggingface_hub.constants
import pytest
import yaml

from pipeline.engines import hub, registry
from pipeline.engines.base import Hardware
from pipeline.engines.pocket import kyutai
from pipeline.engines.pocket.kyutai import KyutaiConfig, read_config
from pipeline.engines.pocket.model import open_model
from pipeline.errors import ConfigError, VoiceError
from pipeline.voices import read_voice, voice_names
from tests.engines.pocket.conftest import MakeTiny, write_voice

pytestmark = pytest.mark.pocket

REVISION = "a7056f505a4a8ca72d8b5fb1440071d6f1a35739"


@pytest.fixture(autouse=True)
def attempts(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """No network: every attempt to reach one fails, and is kept here."""
    tried: list[object] = []

    def unreachable(*to: object, **_: object) -> socket.socket:
        tried.append(to)
        raise OSError("Network is unreachable")

    monkeypatch.setattr(socket, "create_connection", unreachable)
    monkeypatch.setattr(socket.socket, "connect", unreachable)
    monkeypatch.setattr(hub, "getproxies", dict)
    return tried


@pytest.fixture(autouse=True)
def cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The hub's cache, empty."""
    folder = tmp_path / "hub"
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(folder))
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", False)
    return folder


def put(cache: Path, repo: str, path: str, content: str, revision: str = REVISION) -> Path:
    """A file as the hub's library leaves it in its cache."""
    file = cache / f"models--{repo.replace('/', '--')}" / "snapshots" / revision / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(content)
    return file


# The models

SIZES = {
    "weights_path", "dtype", "depth", "dim", "hidden_scale", "d_model", "num_layers", "attn_dim", "dim_feedforward",
    "n_bins", "rank", "z_dim", "inner_dim", "outer_dim", "channels", "dimension", "n_filters", "kernel_size",
    "residual_kernel_size", "last_kernel_size", "pad_mode", "compress", "layer_scale", "input_dimension",
    "output_dimensions", "quantizer", "output_dimension",
}  # fmt: skip
"""Keys that size a tensor, which is asked itself, or that are one thing in all models."""


def upstream_models() -> dict[str, Path]:
    from pocket_tts.utils.config import CONFIGS_DIR

    return {path.stem: path for path in sorted(CONFIGS_DIR.glob("*.yaml"))}


def test_all_models_are_known_and_say_what_their_configs_say() -> None:
    models = upstream_models()
    assert len(models) > 20
    assert sorted(kyutai.model_names()) == sorted(models)
    for name, path in models.items():
        theirs = KyutaiConfig.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))
        assert read_config(name).model_dump() == theirs.model_dump(), name
        assert read_config(str(path)) == theirs


def test_defaults_are_those_of_the_package() -> None:
    """What a config may leave out, filled in by both."""
    from pocket_tts.utils.config import load_config

    for path in upstream_models().values():
        theirs = load_config(path).model_dump()
        for ours, same in leaves(read_config(str(path)).model_dump(), theirs):
            assert ours == same, path


def leaves(ours: dict[str, Any], theirs: dict[str, Any]) -> Iterator[tuple[object, object]]:
    for key, value in ours.items():
        other = theirs.get(key)  # a codec's transformer has no heads for keys and values of its own there
        if isinstance(value, dict) and isinstance(other, dict) and key != "replace_characters":
            yield from leaves(value, other)
        else:
            yield (list(value) if isinstance(value, tuple) else value), other


def test_nothing_else_in_a_config_matters() -> None:
    """Keys that we don't read size a tensor; those that would change the sound have one value."""

    def unread(theirs: dict[str, Any], ours: dict[str, Any]) -> Iterator[tuple[str, Any]]:
        for key, value in theirs.items():
            if key not in ours:
                yield key, value
            elif isinstance(value, dict) and key != "replace_characters":
                yield from unread(value, ours[key])

    for path in upstream_models().values():
        tree = yaml.safe_load(path.read_text(encoding="utf-8"))
        for key, value in unread(tree, KyutaiConfig.model_validate(tree).model_dump()):
            assert key in SIZES, f"{path.name}: {key}"
            assert key != "pad_mode" or value == "constant"
            assert key != "dtype" or value == "float32"


def test_voices_lie_where_the_package_looks_for_them() -> None:
    from pocket_tts.utils.utils import _ORIGINS_OF_PREDEFINED_VOICES, get_predefined_voice

    for model in kyutai.model_names():
        for voice in _ORIGINS_OF_PREDEFINED_VOICES:
            assert kyutai.voice_source(model, voice) == get_predefined_voice(model, voice)
    shipped = [voice for voice in map(read_voice, voice_names()) if voice.engine == "pocket"]
    assert {voice.options["state"] for voice in shipped} == set(_ORIGINS_OF_PREDEFINED_VOICES)
    assert {voice.options["model"] for voice in shipped} <= set(kyutai.model_names())


@pytest.mark.parametrize(
    ("name", "hint"),
    [("englsh", "did you mean english?"), ("english_2026-9", "did you mean english_2026-09?"), ("???", "choose from")],
)
def test_an_unknown_model_is_answered_with_one_that_is_known(name: str, hint: str) -> None:
    with pytest.raises(VoiceError) as refused:
        open_model(name)
    assert repr(name) in str(refused.value)
    assert hint in str(refused.value)


def test_a_codec_is_not_taken_beside_a_model_that_brings_its_own() -> None:
    with pytest.raises(VoiceError, match="codec: the model english brings its own"):
        open_model("english", "kyutai/codec@main")


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("weights_path", None),
        ("default_temperature", "warm"),
        ("replace_characters", ["a"]),
        ("flow_lm.flow.type", "flow_matching"),
        ("flow_lm.transformer.num_heads", "many"),
        ("flow_lm.lookup_table.tokenizer", "words"),
        ("mimi", None),
        ("mimi.frame_rate", None),
        ("mimi.seanet.ratios", 6),
    ],
)
def test_a_fault_in_a_config_is_named_by_its_key(tmp_path: Path, key: str, value: object) -> None:
    tree = yaml.safe_load(upstream_models()["english"].read_text(encoding="utf-8"))
    *parents, last = key.split(".")
    branch = tree
    for parent in parents:
        branch = branch.setdefault(parent, {})
    branch[last] = value
    path = tmp_path / "mine.yaml"
    path.write_text(yaml.safe_dump(tree))
    with pytest.raises(ConfigError) as refused:
        read_config(str(path))
    assert f"{path}: {key}" in str(refused.value)


@pytest.mark.parametrize("content", ["flow_lm: [", "a: b: c", "\x00", "- a\n- b", "", "english"])
def test_what_is_no_config_is_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "mine.yml"
    path.write_text(content)
    with pytest.raises(ConfigError, match=r"mine\.yml"):
        read_config(str(path))


def test_a_config_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(VoiceError, match=r"There is no model config .*lost\.yaml"):
        read_config(str(tmp_path / "lost.yaml"))


# The files


def test_a_file_of_ones_own_is_where_its_path_says(tmp_path: Path, attempts: list[object]) -> None:
    file = tmp_path / "model.safetensors"
    with pytest.raises(hub.MissingFile) as missing:
        hub.locate(str(file), fetch=True)
    assert missing.value.source == str(file)
    file.write_bytes(b"")
    assert hub.locate(str(file), fetch=False) == file
    assert not attempts


@pytest.mark.parametrize("source", ["hf://kyutai/pocket-tts/model.safetensors", "hf://model.safetensors@main", "hf://"])
def test_a_hub_file_without_a_revision_is_refused(source: str, attempts: list[object]) -> None:
    with pytest.raises(VoiceError, match="write hf://owner/repository/path@revision"):
        hub.locate(source, fetch=True)
    assert not attempts


def test_without_a_network_a_missing_file_is_said_at_once(attempts: list[object]) -> None:
    source = f"hf://kyutai/pocket-tts/languages/english/model.safetensors@{REVISION}"
    started = time.monotonic()
    with pytest.raises(hub.MissingFile) as missing:
        hub.locate(source, fetch=True)
    assert time.monotonic() - started < 3
    assert (missing.value.source, missing.value.reason) == (source, "huggingface.co can't be reached")
    assert len(attempts) == 1
    with pytest.raises(hub.MissingFile, match="can't be reached"):
        hub.locate_folder(f"eustlb/pocket-tts@{REVISION}", fetch=True)


def test_nothing_is_tried_where_nothing_may_be_fetched(attempts: list[object], monkeypatch: pytest.MonkeyPatch) -> None:
    source, folder = f"hf://kyutai/pocket-tts/model.safetensors@{REVISION}", f"eustlb/pocket-tts@{REVISION}"
    with pytest.raises(hub.MissingFile, match="it isn't in the hub's cache"):
        hub.locate(source, fetch=False)
    with pytest.raises(hub.MissingFile, match="it isn't in the hub's cache"):
        hub.locate_folder(folder, fetch=False)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(hub.MissingFile, match="HF_HUB_OFFLINE is set"):
        hub.locate(source, fetch=True)
    with pytest.raises(hub.MissingFile, match="HF_HUB_OFFLINE is set"):
        hub.locate_folder(folder, fetch=True)
    assert not attempts


def test_what_is_in_the_cache_is_found_without_a_network(cache: Path, attempts: list[object]) -> None:
    file = put(cache, "kyutai/pocket-tts", "languages/english/model.safetensors", "weights")
    source = f"hf://kyutai/pocket-tts/languages/english/model.safetensors@{REVISION}"
    assert hub.locate(source, fetch=False).read_text() == "weights"
    assert hub.locate(source, fetch=True) == file
    with pytest.raises(hub.MissingFile):  # another revision is another file
        hub.locate(source.replace(REVISION, "0" * 40), fetch=False)
    for name in ("config.json", "model.safetensors"):
        file = put(cache, "eustlb/pocket-tts", name, "")
    assert hub.locate_folder(f"eustlb/pocket-tts@{REVISION}", fetch=True) == file.parent
    assert not attempts


def test_an_interrupted_download_is_gone_on_with(cache: Path, attempts: list[object]) -> None:
    """What is there of a checkpoint isn't taken for all of it, where the rest could be fetched."""
    put(cache, "eustlb/pocket-tts", "config.json", json.dumps({}))
    with pytest.raises(hub.MissingFile, match="can't be reached"):
        hub.locate_folder(f"eustlb/pocket-tts@{REVISION}", fetch=True)
    assert attempts


def test_a_folder_on_the_hub_needs_a_revision(tmp_path: Path, attempts: list[object]) -> None:
    assert hub.locate_folder(str(tmp_path), fetch=False) == tmp_path
    for source in ("eustlb/pocket-tts", "eustlb/pocket-tts@", str(tmp_path / "lost")):
        with pytest.raises(hub.MissingFile, match="a hub repository needs a revision"):
            hub.locate_folder(source, fetch=True)
    assert not attempts


@pytest.mark.parametrize("ask", [registry.open_frontend, registry.check_model, lambda voice: opened(voice)])
def test_a_voice_whose_model_is_not_to_be_had_says_how_to_have_it(ask: Any) -> None:
    started = time.monotonic()
    with pytest.raises(VoiceError, match=r"The voice alba needs hf://kyutai/.* `render-book voices fetch alba`"):
        ask(read_voice("alba"))
    assert time.monotonic() - started < 5


def opened(voice: Any) -> Any:
    return registry.open_engine(voice, Hardware("cpu", 1, 2))


def test_the_open_weights_do_where_the_gated_ones_are_not_here(cache: Path, tiny: MakeTiny, tmp_path: Path) -> None:
    """And both the voice and the tokenizer come out of the cache: a whole model of Kyutai's, without a network."""
    model = tiny(flow="lsd")
    config = read_config("english")
    for source, file in (
        (config.weights_path_without_voice_cloning, model.folder / "model.safetensors"),
        (config.flow_lm.lookup_table.tokenizer_path, model.folder / "tokenizer.json"),
        (kyutai.voice_source("english", "alba"), model.kyutai_voice),
    ):
        match = hub._HUB.fullmatch(source or "")
        assert match is not None
        put(cache, match["repo"], match["path"], "", match["revision"]).write_bytes(file.read_bytes())
    known = open_model("english")
    assert known.open_text(fetch=False)[1]("The lamp went out.")
    assert "model.safetensors" in str(known.weights_file(fetch=False))  # type: ignore[attr-defined]
    with pytest.raises(hub.MissingFile):
        known.weights_file(fetch=False, with_encoder=True)  # type: ignore[attr-defined]
    registry.check_model(write_voice(tmp_path / "mine.yaml", "english", "alba"))
    assert registry.open_frontend(read_voice("alba")).budget("The lamp went out.") > 30
