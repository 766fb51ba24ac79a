"""Pocket TTS in batches: every slot a row of its own, refilled as soon as its row ends."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass

import torch
from torch import Tensor

from pipeline.engines.base import EosTrace, Failed, RawTake, Request
from pipeline.engines.eos import EndOfSpeech, StopRule, tail_frames
from pipeline.engines.pocket import expected_frames
from pipeline.engines.pocket.backbone import Backbone, KeyValues, Prefix
from pipeline.engines.pocket.codec import Decoder
from pipeline.engines.pocket.decoding import Decoding, Sounding
from pipeline.engines.pocket.heads import Heads
from pipeline.engines.pocket.layers import Linear
from pipeline.engines.pocket.model import Checkpoint, Sampling
from pipeline.engines.pocket.slots import SlotTable

_FADE_IN_SECONDS = 0.005
"""A fresh decoder starts with a small step, heard as a click."""

_MIN_HEIGHT = 4
"""Rows of the smallest batch that is run: below, other kernels are chosen and a row's last bits change."""

_MIN_READ = 8
"""Positions of the shortest text that is read, padding among them: as `_MIN_HEIGHT`, of products within a head."""


@dataclass(frozen=True, slots=True)
class Shape:
    """How a replica runs: nothing of it is heard.

    window: frames decoded at once. steps_unread: steps made before the device is asked which rows have ended.
    is_static: whether all slots and positions are run in every step, so that it can be captured as a graph.
    reads_alone: whether each text is read by itself. In bfloat16 oneDNN adds in another order from 33 positions on, so
    texts read together would change each other's last bits; in float32 none does.
    """

    num_slots: int
    dtype: torch.dtype
    device: torch.device
    num_codec_threads: int
    window: int = 16
    steps_unread: int = 1
    is_static: bool = False
    reads_alone: bool = False


@dataclass(slots=True)
class Counters:
    """What has been done so far: occupancy is `row_steps / (steps * num_slots)` between two readings."""

    steps: int = 0
    row_steps: int = 0
    prefills: int = 0
    prefill_positions: int = 0


@dataclass(slots=True, eq=False)
class _Row:
    request: Request
    tokens: list[int]
    prefix: Prefix
    rule: StopRule
    noise: Tensor
    sounding: Sounding
    num_frames: int = 0
    num_queued: int = 0
    """Frames handed to the codec."""

    @property
    def num_positions(self) -> int:
        """Positions behind the row's next input: its text, its BOS, and its frames but the last."""
        return len(self.tokens) + self.num_frames


class PocketEngine:
    """`encode` gives the tokens of a prepared text, `prefix_of` the prefix of a request's voice.

    A chunk's noise comes from its seed alone, drawn on the CPU frame by frame, so that it is the same on every device.
    """

    def __init__(
        self,
        checkpoint: Checkpoint,
        sampling: Sampling,
        encode: Callable[[str], list[int]],
        prefix_of: Callable[[Request, Backbone], Prefix],
        shape: Shape,
    ) -> None:
        weights, geometry = checkpoint.weights, checkpoint.geometry
        self._shape, self._sampling, self._encode, self._prefix_of = shape, sampling, encode, prefix_of
        self._geometry = geometry
        self.backbone = Backbone(weights.under("backbone"), geometry.backbone, shape.dtype)
        self._heads = Heads(weights.under("heads"), geometry.flow, sampling.flow_steps, shape.dtype)
        self._decoder = Decoder(weights.under("codec"), geometry.codec, shape.dtype)
        self._decoding = Decoding(self._decoder, shape.num_codec_threads)
        self._embedding = weights["text.embedding"].float()
        self._projection = Linear(weights["latent.projection"], None, torch.float32)
        self._bos = self._projection(weights["latent.bos"].float().expand(_MIN_HEIGHT, -1))[0]
        self._table: SlotTable[_Row] = SlotTable(shape.num_slots, num_ahead=max(1, shape.num_slots // 4))
        self._num_rows = 1 if shape.num_slots == 1 else max(_MIN_HEIGHT, shape.num_slots)
        device = shape.device
        self._slots = KeyValues(geometry.backbone, self._num_rows, 0, device)
        self._stops = EndOfSpeech(self._num_rows, device)
        self._positions = torch.zeros(self._num_rows, dtype=torch.long, device=device)
        self._is_live = torch.zeros(self._num_rows, dtype=torch.long, device=device)
        latent_dim = self._projection.in_dim
        self._noise = torch.zeros(self._num_rows, 0, latent_dim, device=device)
        self._latents = torch.zeros_like(self._noise)
        self._logits: Tensor | None = None  # of end of speech, by row and frame, once a request wants its trace
        self._last = torch.zeros(self._num_rows, latent_dim, device=device)
        self._failed: list[Failed] = []
        self.counters = Counters()

    @property
    def free_slots(self) -> int:
        return self._table.num_free

    @torch.inference_mode()
    def admit(self, request: Request) -> None:
        asked = request.sampling
        tokens = self._encode(request.text)
        if not tokens or max(tokens) >= len(self._embedding) or request.budget < 1:
            raise ValueError(f"the model's tokenizer makes {len(tokens)} tokens of it that its weights don't know")
        rule = self._rule(request, self._expected(tokens))
        generator = torch.Generator().manual_seed(request.seed)
        noise = torch.randn(request.budget, self._latents.shape[-1], generator=generator)
        noise *= asked.get("temperature", self._sampling.temperature) ** 0.5
        prefix = self._prefix_of(request, self.backbone)
        self._table.push(_Row(request, tokens, prefix, rule, noise, Sounding(request)))

    def _expected(self, tokens: Sequence[int]) -> int:
        return expected_frames(len(tokens), self._geometry.frame_rate)

    def _rule(self, request: Request, expected: int) -> StopRule:
        """When a request's row ends: as it is asked for, else as the model is used to."""
        asked, usual = request.sampling, self._sampling
        tail = asked.get("frames_after_eos", usual.tail_frames)
        min_frames = int(asked.get("min_frames", usual.min_frames))
        return StopRule(
            threshold=asked.get("eos_threshold", usual.eos_threshold),
            min_frames=min_frames,
            tail_frames=tail_frames(request.text) if tail is None else int(tail),
            budget=request.budget,
            fall=asked.get("eos_fall", 0.0),
            near=asked.get("eos_near", 0.0),
            near_frames=int(asked.get("eos_near_frames", 1)),
            earliest_frame=max(math.ceil(asked.get("eos_expected_share", 1.0) * expected), min_frames),
        )

    @torch.inference_mode()
    def step(self) -> list[RawTake | Failed]:
        if placed := self._table.fill():
            self._prefill(placed)
        self._compact()
        if self._table.num_live:
            for _ in range(self._shape.steps_unread):
                self._advance()
            self._collect()
            self._decode_along()
        failed, self._failed = self._failed, []
        finished = self._decoding.take_finished(wait=not self._table.num_live and not failed)
        return [*failed, *(self._take(row) for row in finished)]

    def _prefill(self, placed: Sequence[tuple[int, _Row]]) -> None:
        """Read the voices and texts of the rows that have come in; their last hidden states give frame 0."""
        self._make_room([row for _, row in placed])
        for prefix, group in self._groups(placed):
            slots = torch.tensor([slot for slot, _ in group], device=self._shape.device)
            lengths = [len(row.tokens) + 1 for _, row in group]
            x = torch.zeros(len(group), max(_MIN_READ, *lengths), self._embedding.shape[1], device=self._shape.device)
            for number, (slot, row) in enumerate(group):
                x[number, : len(row.tokens)] = self._embedding[row.tokens]
                x[number, len(row.tokens)] = self._bos
                self._stops.begin(slot, row.rule)
                self._noise[slot, : row.rule.budget] = row.noise.to(self._shape.device)
                self._positions[slot] = lengths[number]
                self._is_live[slot] = 1
                row.num_frames = 1
            hidden, _ = self.backbone.prefill(x, lengths, prefix, self._slots, slots.tolist())
            self._sample(slots, hidden)
            self.counters.prefills += 1
            self.counters.prefill_positions += x.shape[0] * x.shape[1]

    def _groups(self, placed: Sequence[tuple[int, _Row]]) -> Iterator[tuple[Prefix, list[tuple[int, _Row]]]]:
        """The rows that are read together: those of one voice, unless each is read alone."""
        if self._shape.reads_alone:
            yield from ((row.prefix, [(slot, row)]) for slot, row in placed)
        else:
            for prefix in dict.fromkeys(row.prefix for _, row in placed):
                yield prefix, [(slot, row) for slot, row in placed if row.prefix is prefix]

    def _advance(self) -> None:
        """One frame for every row."""
        if self._shape.is_static:
            rows, longest = slice(0, self._num_rows), self._slots.capacity
        else:
            rows = slice(0, max(self._table.height, min(_MIN_HEIGHT, self._num_rows)))
            longest = max(row.num_positions for _, row in self._table.live()) + 1
        x = self._projection(self._last[rows])
        hidden = self.backbone.step(x, self._positions[rows], longest, self._slots, self._masks(rows.stop))
        self._positions += self._is_live
        self._sample(rows, hidden)
        for _, row in self._table.live():
            row.num_frames += 1
        self.counters.steps += 1
        self.counters.row_steps += self._table.num_live

    def _sample(self, rows: slice | Tensor, hidden: Tensor) -> None:
        frames = self._stops.num_frames[rows].clamp(max=self._noise.shape[1] - 1)
        at = torch.arange(self._num_rows, device=self._shape.device)[rows]
        latents, logits = self._heads(hidden, self._noise[at, frames])
        self._latents[at, frames] = latents
        self._last[rows] = latents
        if self._logits is not None:
            self._logits[at, frames] = logits
        self._stops.update(rows, logits)

    def _masks(self, num_rows: int) -> dict[Prefix, Tensor | None]:
        """Which rows have which voice; None where all have the same."""
        voices: dict[Prefix, list[int]] = {}
        for slot, row in self._table.live():
            voices.setdefault(row.prefix, []).append(slot)
        if len(voices) == 1:
            return dict.fromkeys(voices)
        masks: dict[Prefix, Tensor | None] = {}
        for prefix, slots in voices.items():
            mask = torch.zeros(num_rows, dtype=torch.bool)
            mask[slots] = True
            masks[prefix] = mask.to(self._shape.device)
        return masks

    def _collect(self) -> None:
        """Let the rows that have ended leave, and hand what frames there are to the codec."""
        states = self._stops.state(self._table.height)
        finite = torch.isfinite(self._last[: self._table.height]).all(1).tolist()
        for slot, row in list(self._table.live()):
            _, end, has_fired = states[slot]
            done = min(row.num_frames, end)
            if not finite[slot]:
                self._slots.clear(slot)  # 0 * NaN would be the next row's
                if not torch.isfinite(self._latents[slot, :done]).all():  # and not only of frames beyond its end
                    self._drop(slot, row)
                    continue
            is_ended = row.num_frames >= end
            while row.num_queued < done and (is_ended or done - row.num_queued >= self._shape.window):
                window = slice(row.num_queued, min(row.num_queued + self._shape.window, done))
                self._decoding.push(row.sounding, self._latents[slot, window].clone())
                row.num_queued = window.stop
            if is_ended:
                if row.request.wants_trace:
                    row.sounding.trace = self._trace(slot, row, done)
                self._leave(slot)
                self._decoding.finish(row.sounding, "eos" if has_fired else "budget")

    def _trace(self, slot: int, row: _Row, num_frames: int) -> EosTrace:
        assert self._logits is not None
        values, fired_at = self._logits[slot, :num_frames].tolist(), int(self._stops.fired_at[slot])
        rule = asdict(row.rule) | {"expected": self._expected(row.tokens)}
        return EosTrace("logit", self._geometry.frame_rate, tuple(values), fired_at if fired_at >= 0 else None, rule)

    def _leave(self, slot: int) -> None:
        self._table.leave(slot)
        self._last[slot] = 0
        self._is_live[slot] = 0
        self._positions[slot] = 0

    def _drop(self, slot: int, row: _Row) -> None:
        """Fail a row whose latents are no numbers."""
        self._leave(slot)
        self._decoding.drop(row.sounding)
        message = "the model made a latent that is no number; fetch its weights again, or try --dtype float32"
        self._failed.append(Failed(row.request.key, row.request.attempt, "exception", message))

    def _decode_along(self) -> None:
        """Decode here what the codec's threads can't keep up with: the backbone needs less time than the codec."""
        limit = 0 if self._decoding.is_alone else self._shape.num_slots
        while self._decoding.num_pending > limit and self._decoding.run_one():
            pass

    def _compact(self) -> None:
        for source, target in self._table.compact():
            self._slots.move(source, target, self._slots.capacity)
            self._stops.move(source, target)
            for column in (self._positions, self._is_live, self._noise, self._latents, self._last):
                column[target] = column[source]
            if self._logits is not None:
                self._logits[target] = self._logits[source]
            self._is_live[source] = 0
            self._positions[source] = 0

    def _make_room(self, rows: Sequence[_Row]) -> None:
        extra = self._shape.steps_unread
        positions = max(len(row.tokens) + row.rule.budget for row in rows) + extra
        if positions > self._slots.capacity:
            self._slots = self._slots.grown(self._geometry.backbone, positions)
        frames = max(row.rule.budget for row in rows) + extra
        if frames > self._noise.shape[1]:
            padding = (0, 0, 0, frames - self._noise.shape[1])
            self._noise = torch.nn.functional.pad(self._noise, padding)
            self._latents = torch.nn.functional.pad(self._latents, padding)
        if self._logits is None and any(row.request.wants_trace for row in rows):
            self._logits = self._noise.new_zeros(self._num_rows, 0)
        if self._logits is not None:
            self._logits = torch.nn.functional.pad(self._logits, (0, self._noise.shape[1] - self._logits.shape[1]))

    def _take(self, row: Sounding) -> RawTake:
        samples = torch.cat(row.samples).cpu()
        fade = torch.linspace(0, 1, int(_FADE_IN_SECONDS * self._geometry.codec.sample_rate))[: len(samples)]
        samples[: len(fade)] *= fade
        assert row.stop is not None
        return RawTake(row.request.key, row.request.attempt, row.stop, samples.numpy(), row.num_frames, row.trace)
