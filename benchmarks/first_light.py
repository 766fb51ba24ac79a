"""The released weights, once there is a network: ours against both libraries, and the demo as a listener hears it.

    python benchmarks/first_light.py examples/the-story.epub [--output DIR]

Fetches the English model with its voice alba in both published forms (about 1 GB), has ten sentences spoken without
noise by this project, by pocket-tts and by transformers, renders the story with the real command, and transcribes it.
One table: whether the tokens are the same, the frames up to the end of speech and its tail (ours/theirs), and how far
latents and sound are apart, of their largest value; then the word error rate of each chapter. Exits with 1 if tokens
or frames differ, latents are further apart than 0.01, or more than a tenth of the words is misheard.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import torch
from torch import Tensor

from pipeline.engines import hub, registry
from pipeline.engines.base import Hardware, RawTake, Request
from pipeline.engines.pocket import Options
from pipeline.engines.pocket.model import open_model
from pipeline.errors import RenderBookError
from pipeline.review.transcribe import Heard, listen, open_listener
from pipeline.script.script import Boundary
from pipeline.voices import Voice, read_voice

LANGUAGE, VOICE = "english", "alba"
HUB_MODEL = "eustlb/pocket-tts"
HUB_REVISION = CODEC_REVISION = "main"
"""Replace by commits once they are known: the first run prints them."""

FRAME = 1920
MOST_APART, MOST_MISHEARD = 0.01, 0.10

SENTENCES = (
    "The lamp went out, and nobody moved.",
    "Come in, Tom!",
    "Was it the wind, or was there somebody in the garden?",
    "He counted the boats twice and said nothing.",
    "She had walked eleven miles that day, and there were eleven more to go.",
    "“You can’t keep a thing like that in the house,” her mother said.",
    "They kept the letters in a tin box under the stairs; nobody had read them for thirty years.",
    "It was the first of March.",
    "If the tide turns before we reach the point, we shall have to row, and none of us has eaten since noon.",
    "Well, then: we wait.",
)


@dataclass(frozen=True, slots=True)
class Spoken:
    """One sentence by one of the three: normalised latents `[num_frames, latent_dim]`, and its samples."""

    tokens: list[int]
    latents: Tensor
    samples: Tensor


@dataclass(frozen=True, slots=True)
class Compared:
    text: str
    same_tokens: bool
    frames: tuple[int, int]
    latents_apart: float
    sound_apart: float

    @property
    def is_same(self) -> bool:
        return self.same_tokens and self.frames[0] == self.frames[1] and self.latents_apart <= MOST_APART


def compare_with_pocket_tts(voice: Voice, tts: Any, state: Any, texts: Sequence[str]) -> list[Compared]:
    """`tts` is a pocket-tts model without temperature, `state` the voice as it loads it."""
    return [compared(text, our, spoken_by_pocket_tts(tts, state, text)) for text, our in spoken_by_us(voice, texts)]


def compare_with_transformers(
    voice: Voice, network: Any, processor: Any, cache: dict[str, Tensor], texts: Sequence[str]
) -> list[Compared]:
    """`cache` holds the tensors of a voice as transformers keeps it: `layers.{i}.keys` and `.values`."""
    return [
        compared(text, our, spoken_by_transformers(network, processor, cache, text))
        for text, our in spoken_by_us(voice, texts)
    ]


def compared(text: str, ours: Spoken, theirs: Spoken) -> Compared:
    def apart(a: Tensor, b: Tensor) -> float:
        length = min(len(a), len(b))
        return float((a[:length] - b[:length]).abs().max() / b.abs().max())

    return Compared(
        text,
        ours.tokens == theirs.tokens,
        (len(ours.latents), len(theirs.latents)),
        apart(ours.latents, theirs.latents),
        apart(ours.samples, theirs.samples),
    )


def spoken_by_us(voice: Voice, texts: Sequence[str]) -> list[tuple[str, Spoken]]:
    voice = voice.using({"dtype": "float32"})
    options = voice.options_as(Options)
    _, encode = open_model(options.model, options.codec).open_text(fetch=False)
    frontend = registry.open_frontend(voice)
    prepared = [frontend.prepare(text, Boundary.SENTENCE) for text in texts]
    engine: Any = registry.open_engine(voice, Hardware("cpu", num_slots=4))
    latents: dict[str, list[Tensor]] = {}
    push = engine._decoding.push

    def caught(row: Any, window: Tensor) -> None:
        latents.setdefault(row.request.key, []).append(window.clone())
        push(row, window)

    queue = [
        Request(str(number), text, 0, 0, frontend.budget(text), {"temperature": 0.0})
        for number, text in enumerate(prepared)
    ]
    takes: dict[str, RawTake] = {}
    with mock.patch.object(engine._decoding, "push", caught):
        while len(takes) < len(texts):
            while queue and engine.free_slots:
                engine.admit(queue.pop())
            for take in engine.step():
                assert isinstance(take, RawTake), take
                takes[take.key] = take
    return [
        (text, Spoken(encode(said), torch.cat(latents[str(n)]), torch.from_numpy(takes[str(n)].samples)))
        for n, (text, said) in enumerate(zip(texts, prepared, strict=True))
    ]


def spoken_by_pocket_tts(tts: Any, state: Any, text: str) -> Spoken:
    tokens: list[int] = []
    latents: list[Tensor] = []
    step = tts._run_flow_lm_and_increment_step

    def caught(**given: Any) -> Any:
        latent, has_ended = step(**given)
        if (text_tokens := given.get("text_tokens")) is not None:
            tokens.extend(text_tokens[0].tolist())
        else:
            latents.append(latent[0, 0])
        return latent, has_ended

    with mock.patch.object(tts, "_run_flow_lm_and_increment_step", caught):
        samples = tts.generate_audio(state, text, max_tokens=10_000)
    return Spoken(tokens, torch.stack(latents[: len(samples) // FRAME]), samples)  # it makes one more than it keeps


def spoken_by_transformers(network: Any, processor: Any, voice: dict[str, Tensor], text: str) -> Spoken:
    from transformers import DynamicCache

    chat = [{"role": "user", "content": [{"type": "text", "text": text}]}]
    inputs = processor(text=processor.apply_chat_template(chat), return_tensors="pt")
    cache = DynamicCache(config=network.config)
    for layer in range(network.config.num_hidden_layers):
        cache.update(voice[f"layers.{layer}.keys"].float(), voice[f"layers.{layer}.values"].float(), layer)
    out = network.generate(**inputs, cache=cache, do_sample=False, return_dict_in_generate=True)
    latents = out.audio_latents[0, : int(out.audio_latents_mask.sum())]
    tokens = [token for token in inputs["input_ids"][0].tolist() if token not in network._placeholder_token_ids()]
    return Spoken(tokens, (latents - network.latent_mean) / network.latent_std, processor.decode(latents))


def heard_in(folder: Path) -> list[tuple[str, Heard]]:
    """What a listener hears in the chapters of an output folder, by title."""
    listener = open_listener()
    heard = []
    for chapter in json.loads((folder / "script.json").read_text(encoding="utf-8"))["chapters"]:
        path = folder / "chapters" / f"{chapter['index']:03}.flac"
        said = " ".join(chunk["text"] for chunk in chapter["chunks"])
        if said and path.is_file():
            heard.append((chapter["title"], listen(listener, path, said)))
    return heard


def misheard(heard: Sequence[tuple[str, Heard]]) -> float:
    """Wrong words per word, over all."""
    words = [len(each.said.split()) for _, each in heard]
    return sum(each.word_error_rate * count for (_, each), count in zip(heard, words, strict=True)) / sum(words)


def table(compared: dict[str, Sequence[Compared]], heard: Sequence[tuple[str, Heard]]) -> list[str]:
    lines = [f"{'':<44} {'tokens':>7} {'frames':>9} {'latents':>9} {'sound':>9}"]
    for library, rows in compared.items():
        lines.append(f"against {library}")
        for row in rows:
            tokens, frames = "same" if row.same_tokens else "DIFFER", "/".join(map(str, row.frames))
            numbers = f"{tokens:>7} {frames:>9} {row.latents_apart:9.1e} {row.sound_apart:9.1e}"
            lines.append(f"  {row.text[:42]:<42} {numbers}{'' if row.is_same else '  <--'}")
    lines.append(f"{'the demo, as Whisper hears it':<44} {'words':>7} {'misheard':>9}")
    lines += [f"  {title[:42]:<42} {len(each.said.split()):>7} {each.word_error_rate:9.1%}" for title, each in heard]
    return [*lines, f"  {'all':<42} {'':>7} {misheard(heard):9.1%}" if heard else "  wasn't rendered"]


def pocket_tts_on_hub(voice: Voice) -> list[Compared]:
    from pocket_tts import TTSModel

    tts = TTSModel.load_model(language=LANGUAGE, temp=0.0)
    return compare_with_pocket_tts(voice, tts, tts.get_state_for_audio_prompt(VOICE), SENTENCES)


def transformers_on_hub(voice: Voice) -> list[Compared]:
    from huggingface_hub import HfApi
    from safetensors.torch import load_file
    from transformers import PocketTTSAudioTokenizerModel, PocketTTSForConditionalGeneration, PocketTTSProcessor

    model = f"{HUB_MODEL}@{HfApi().model_info(HUB_MODEL, revision=HUB_REVISION).sha}"
    folder = hub.locate_folder(model, fetch=True)
    named = json.loads((folder / "processor_config.json").read_text(encoding="utf-8"))["audio_tokenizer"]
    repository = named["audio_tokenizer_name_or_path"]
    codec = f"{repository}@{HfApi().model_info(repository, revision=CODEC_REVISION).sha}"
    print(f"transformers: {model}, codec {codec}", flush=True)
    network = PocketTTSForConditionalGeneration.from_pretrained(folder, dtype="float32")
    processor = PocketTTSProcessor.from_pretrained(folder)
    # The processor has loaded its codec by name alone: this one is pinned.
    codec_folder = hub.locate_folder(codec, fetch=True)
    processor.audio_tokenizer = PocketTTSAudioTokenizerModel.from_pretrained(codec_folder, dtype="float32")
    state = folder / "voices" / f"{VOICE}.safetensors"
    voice = voice.using({"model": model, "codec": codec, "state": str(state)})
    return compare_with_transformers(voice, network, processor, load_file(state), SENTENCES)


def main(story: Path, output: Path) -> int:
    voice = read_voice(VOICE)
    registry.check_model(voice)  # fetches it
    rows = {"pocket-tts": pocket_tts_on_hub(voice), "transformers": transformers_on_hub(voice)}
    render = [sys.executable, "-m", "pipeline.cli", story, "--voice", VOICE, "--output", output]
    heard = heard_in(output) if subprocess.run(render, check=False).returncode == 0 else []
    print("\n".join(table(rows, heard)))
    is_same = all(row.is_same for each in rows.values() for row in each)
    return 0 if is_same and heard and misheard(heard) <= MOST_MISHEARD else 1


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Ours against both libraries with the released weights.")
    parser.add_argument("story", type=Path)
    parser.add_argument("--output", type=Path, default=Path("output/first-light"))
    given = parser.parse_args()
    try:
        sys.exit(main(given.story, given.output))
    except RenderBookError as error:
        print(error, file=sys.stderr)
        sys.exit(error.exit_code)
