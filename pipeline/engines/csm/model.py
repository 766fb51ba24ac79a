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

    def joined(self, other: Past) -> Past:
        width = max(*self.lengths, *other.lengths)

        def join(mine: Sequence[Tensor], others: Sequence[Tensor]) -> tuple[Tensor, ...]:
            return tuple(torch.cat([_widened(a, width), _widened(b, width)]) for a, b in zip(mine, others, strict=True))

        return Past(join(self.keys, other.keys), join(self.values, other.values), self.lengths + other.lengths)

    def kept(self, rows: Sequence[int]) -> Past:
        """Only these rows, and no more columns than they need."""
        lengths = tuple(self.lengths[row] for row in rows)
        width = max(lengths)

        def keep(tensors: Sequence[Tensor]) -> tuple[Tensor, ...]:
            return tuple(tensor[list(rows), :, -width:] for tensor in tensors)

        return Past(keep(self.keys), keep(self.values), lengths)


def _widened(tensor: Tensor, width: int) -> Tensor:
    return torch.nn.functional.pad(tensor, (0, 0, width - tensor.shape[2], 0))


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

    def prompt(self, text: str, speaker: str, voice: Tensor | None, voice_text: str) -> Tensor:
        """What the backbone reads before a text's first frame, embedded: `[num_positions, hidden]`.

        By the checkpoint's chat template; `voice` are the codes of a recording, of which `voice_text` are the words.
        """
        text, speaker, voice_text = map(self._spelled, (text, speaker, voice_text))
        said = [{"type": "text", "text": text}]
        turns: list[dict[str, Any]] = [{"role": speaker, "content": said}]
        if voice is not None:
            heard = [{"type": "text", "text": voice_text}, {"type": "audio"}]
            turns.insert(0, {"role": speaker, "content": heard})
        written = self._tokenizer.apply_chat_template(turns, tokenize=False)
        ids = torch.tensor(self._tokenizer.encode(written, add_special_tokens=False), device=self._device)
        if voice is not None:
            ids = torch.cat([id_.expand(len(voice)) if id_ == self._audio_id else id_[None] for id_ in ids])
        embedded: Tensor = self._model.embed_text_tokens(ids)
        frames = self._model.backbone_model.embed_tokens
        if voice is not None:
            embedded[ids == self._audio_id] = frames(voice[None])[0]
            ends = torch.full((1, 1, self.num_codebooks), self.eos_id, device=self._device)
            embedded[ids == self._audio_eos_id] = frames(ends)[0, 0]
        return embedded

    def _spelled(self, text: str) -> str:
        """With a space in each special token: a book may spell one, and so may a voice file."""
        for token in self._specials:
            text = text.replace(token, f"{token[0]} {token[1:]}")
        return text

    def has_room(self, prompt: Tensor, num_frames: int) -> bool:
        return len(prompt) + num_frames <= self._max_positions

    def read(self, prompt: Tensor) -> tuple[Tensor, Past]:
        """Read one prompt by itself; the last hidden state, `[1, hidden]`, and what is remembered.

        Alone, since padding would change its last bits with what is read beside it.
        """
        from transformers import DynamicCache

        cache = DynamicCache()
        out = self._model.backbone_model(inputs_embeds=prompt[None], cache=cache, use_cache=True)
        return out.last_hidden_state[:, -1], _past(cache, (len(prompt),))

    def go_on(self, codes: Tensor, past: Past) -> tuple[Tensor, Past]:
        """Read each row's last frame, `[num_rows, num_codebooks]`; their hidden states, and what they remember."""
        from transformers import DynamicCache

        cache = DynamicCache()
        for number, (keys, values) in enumerate(zip(past.keys, past.values, strict=True)):
            cache.update(keys, values, number)
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
        from transformers import DynamicCache

        cache = DynamicCache()
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


def _past(cache: Any, lengths: tuple[int, ...]) -> Past:
    return Past(tuple(layer.keys for layer in cache.layers), tuple(layer.values for layer in cache.layers), lengths)
