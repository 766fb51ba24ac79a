"""CSM's parts as transformers has them: read, go on, choose a frame's codes, decode. Loads torch and transformers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from pipeline.errors import VoiceError

ChooseCode = Callable[[int, Tensor], Tensor]
"""From a codebook's number and its scores, `[num_rows, vocabulary]`, to one code a row."""


@dataclass(frozen=True, slots=True)
class Past:
    """The backbone's keys and values of some rows, `[num_rows, num_heads, width, head_dim]` a layer.

    A row's own are the last `lengths[row]` columns: rows of different lengths end together.
    """

    keys: tuple[Tensor, ...]
    values: tuple[Tensor, ...]
    lengths: tuple[int, ...]

    def kept(self, rows: Sequence[int]) -> Past:
        """Only these rows, and no more columns than they need."""
        lengths = tuple(self.lengths[row] for row in rows)
        width = max(lengths)

        def keep(tensors: Sequence[Tensor]) -> tuple[Tensor, ...]:
            return tuple(tensor[list(rows), :, -width:] for tensor in tensors)

        return Past(keep(self.keys), keep(self.values), lengths)


def join(pasts: Sequence[Past]) -> Past:
    """The rows of all of them."""
    width = max(length for past in pasts for length in past.lengths)

    def joined(layers: Sequence[tuple[Tensor, ...]]) -> tuple[Tensor, ...]:
        return tuple(torch.cat([_widened(tensor, width) for tensor in layer]) for layer in zip(*layers, strict=True))

    lengths = tuple(length for past in pasts for length in past.lengths)
    return Past(joined([past.keys for past in pasts]), joined([past.values for past in pasts]), lengths)


def _widened(tensor: Tensor, width: int) -> Tensor:
    return torch.nn.functional.pad(tensor, (0, 0, width - tensor.shape[2], 0))


@dataclass(frozen=True, slots=True)
class Prompt:
    """What the backbone reads before a row's first frame: what it remembers of a voice, if any, and `[num, hidden]`."""

    heard: Past | None
    embedded: Tensor

    def __len__(self) -> int:
        return len(self.embedded) + (self.heard.lengths[0] if self.heard else 0)


class CsmModel:
    """A checkpoint on its device. All methods are called within `torch.inference_mode`."""

    def __init__(self, folder: Path, device: torch.device, dtype: torch.dtype) -> None:
        from safetensors import SafetensorError
        from transformers import AutoTokenizer, CsmForConditionalGeneration
        from transformers.utils import logging

        logging.disable_progress_bar()  # of loading, among the lines of the job's own
        try:
            self._tokenizer: Any = AutoTokenizer.from_pretrained(folder, trust_remote_code=False)
            model: Any = CsmForConditionalGeneration.from_pretrained(
                folder, dtype=dtype, trust_remote_code=False, use_safetensors=True
            )
        except (OSError, ValueError, RuntimeError, KeyError, SafetensorError) as error:
            said = " ".join(str(error).split())[:200]
            raise VoiceError(f"{folder} isn't a whole checkpoint of CSM ({said}): fetch it again.") from None
        if not self._tokenizer.chat_template:
            raise VoiceError(f"{folder} has no chat template (chat_template.jinja): fetch it again.")
        self._specials = [str(token) for token in self._tokenizer.added_tokens_decoder.values()]
        self._model = model.to(device).eval()
        self._device = device
        config = model.config
        self.eos_id: int = config.codebook_eos_token_id
        self.num_codebooks: int = config.num_codebooks
        self._audio_id: int = config.audio_token_id
        self._audio_eos_id: int = config.audio_eos_token_id
        self._max_positions: int = config.max_position_embeddings
        tokens = torch.arange(config.vocab_size, device=device)
        self._is_stranger = (tokens >= config.codec_config.codebook_size) & (tokens != self.eos_id)
        self.sample_rate: int = config.codec_config.sampling_rate
        self.frames_per_second = float(config.codec_config.frame_rate)

    def encode(self, samples: Tensor) -> Tensor:
        """The codec's codes of a recording: `[num_frames, num_codebooks]`."""
        codec = self._model.codec_model
        audio = samples.to(self._device, codec.dtype)[None, None]
        with _one_thread():
            codes: Tensor = codec.encode(audio, num_quantizers=self.num_codebooks).audio_codes[0]
        return codes.T

    def decode(self, codes: Tensor) -> Tensor:
        """Samples of a row's frames, `[num_frames, num_codebooks]`; on the CPU, full scale at 1.0.

        A row at a time, whole: so its samples are the same whatever was rendered beside it.
        """
        codec = self._model.codec_model
        with _one_thread():
            samples: Tensor = codec.decode(codes.T[None]).audio_values[0, 0]
        return samples.float().cpu()

    def num_tokens(self, text: str) -> int:
        return len(self._tokenizer.encode(text, add_special_tokens=False))

    def hear(self, speaker: str, text: str, codes: Tensor) -> Past:
        """What the backbone remembers of a recording's codes, of which `text` are the words: read once for a voice."""
        ids = self._ids(self._turns(speaker, text, ""))
        ids = ids[: self._num_heard(ids)]
        ids = torch.cat([id_.expand(len(codes)) if id_ == self._audio_id else id_[None] for id_ in ids])
        embedded: Tensor = self._model.embed_text_tokens(ids)
        frames = self._model.backbone_model.embed_tokens
        embedded[ids == self._audio_id] = frames(codes[None])[0]
        ends = torch.full((1, 1, self.num_codebooks), self.eos_id, device=self._device)
        embedded[ids == self._audio_eos_id] = frames(ends)[0, 0]
        return self.read(Prompt(None, embedded))[1]

    def prompt(self, speaker: str, text: str, heard: Past | None, heard_text: str) -> Prompt:
        """By the checkpoint's chat template, which may write a turn otherwise after another one."""
        if heard is None:
            ids = self._ids([{"role": self._spelled(speaker), "content": [self._said(text)]}])
        else:
            ids = self._ids(self._turns(speaker, heard_text, text))
            ids = ids[self._num_heard(ids) :]
        return Prompt(heard, self._model.embed_text_tokens(ids))

    def _num_heard(self, ids: Tensor) -> int:
        """How many tokens there are up to the end of the recording."""
        return int((ids == self._audio_eos_id).nonzero()[0]) + 1

    def _turns(self, speaker: str, heard_text: str, text: str) -> list[dict[str, Any]]:
        speaker = self._spelled(speaker)
        heard = {"role": speaker, "content": [self._said(heard_text), {"type": "audio"}]}
        return [heard, {"role": speaker, "content": [self._said(text)]}]

    def _said(self, text: str) -> dict[str, str]:
        return {"type": "text", "text": self._spelled(text)}

    def _ids(self, turns: list[dict[str, Any]]) -> Tensor:
        written = self._tokenizer.apply_chat_template(turns, tokenize=False)
        return torch.tensor(self._tokenizer.encode(written, add_special_tokens=False), device=self._device)

    def _spelled(self, text: str) -> str:
        """With a space in each special token: a book may spell one, and so may a voice file."""
        for token in self._specials:
            text = text.replace(token, f"{token[0]} {token[1:]}")
        return text

    def has_room(self, prompt: Prompt, num_frames: int) -> bool:
        return len(prompt) + num_frames <= self._max_positions

    def read(self, prompt: Prompt) -> tuple[Tensor, Past]:
        """Read one prompt by itself; the last hidden state, `[1, hidden]`, and what is remembered.

        Alone, since padding would change its last bits with what is read beside it.
        """
        cache = _cache(prompt.heard)
        out = self._model.backbone_model(inputs_embeds=prompt.embedded[None], cache=cache, use_cache=True)
        return out.last_hidden_state[:, -1], _past(cache, (len(prompt),))

    def go_on(self, codes: Tensor, past: Past) -> tuple[Tensor, Past]:
        """Read each row's last frame, `[num_rows, num_codebooks]`; their hidden states, and what they remember."""
        cache = _cache(past)
        lengths = torch.tensor(past.lengths, device=self._device)
        width = past.keys[0].shape[2]
        mask = torch.arange(width + 1, device=self._device) >= (width - lengths)[:, None]
        out = self._model.backbone_model(
            input_ids=codes[:, None],
            attention_mask=mask.long(),
            position_ids=lengths[:, None],
            cache=cache,
            use_cache=True,
        )
        return out.last_hidden_state[:, -1], _past(cache, tuple(length + 1 for length in past.lengths))

    def scores(self, hidden: Tensor) -> Tensor:
        """Of the first codebook: `[num_rows, vocabulary]`, float32."""
        scores: Tensor = self._model.lm_head(hidden).float()
        return self._without_strangers(scores)

    def codes(self, hidden: Tensor, first: Tensor, choose: ChooseCode) -> Tensor:
        """All codes of the frame whose first ones are chosen: `[num_rows, num_codebooks]`."""
        cache = _cache(None)
        codes = [first]
        ids = torch.stack([torch.zeros_like(first), first], 1)  # the first place is the hidden state's
        for number in range(1, self.num_codebooks):
            out = self._model.depth_decoder(
                input_ids=ids,
                backbone_last_hidden_state=hidden if number == 1 else None,
                cache=cache,
                use_cache=True,
                logits_to_keep=1,
            )
            codes.append(choose(number, self._without_strangers(out.logits[:, -1].float())))
            ids = codes[-1][:, None]
        return torch.stack(codes, 1)

    def _without_strangers(self, scores: Tensor) -> Tensor:
        """The last few tokens are padding, which the codec has no sound for: one would end the whole batch."""
        return scores.masked_fill(self._is_stranger, -torch.inf)


@contextmanager
def _one_thread() -> Iterator[None]:
    """With more, the codec's last bits change with their number, which is less with more workers."""
    num_threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(num_threads)


def _cache(past: Past | None) -> Any:
    from transformers import DynamicCache

    cache = DynamicCache()
    if past is not None:
        for number, (keys, values) in enumerate(zip(past.keys, past.values, strict=True)):
            cache.update(keys, values, number)
    return cache


def _past(cache: Any, lengths: tuple[int, ...]) -> Past:
    return Past(tuple(layer.keys for layer in cache.layers), tuple(layer.values for layer in cache.layers), lengths)
