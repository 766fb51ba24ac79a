"""End of speech, by a rule of each row's own: a threshold (`EndOfSpeech`) or the rank of a token (`RankBoost`).

The threshold is Pocket TTS's (pocket-tts 4.0.1, transformers 5.24): a frame whose logit is above it ends the speech,
a few frames more let the codec close it. The rank is for models that choose a token of a codec a step.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

SHORT_TEXT_WORDS = 4
TAIL_SHORT, TAIL_LONG = 4, 2
"""Frames kept after the end-of-speech frame, for texts of at most 4 words and for others."""


@dataclass(frozen=True, slots=True)
class StopRule:
    """When a row ends. A lower threshold ends earlier, a higher one later; a very high one never."""

    threshold: float
    min_frames: int
    tail_frames: int
    budget: int
    """The most frames; a row that gets there without an end of speech has missed it."""
    fall: float = 0.0
    """What the threshold falls by on each frame after `near_frames` in a row, none before `earliest_frame`, whose
    logits were above the threshold less `near`; 0 is never."""
    near: float = 0.0
    near_frames: int = 1
    earliest_frame: int = 0


def tail_frames(text: str) -> int:
    """Frames after the end-of-speech frame, by the length of the text."""
    return TAIL_SHORT if len(text.split()) <= SHORT_TEXT_WORDS else TAIL_LONG


class EndOfSpeech:
    """End of speech by one logit a frame, of all slots' rows, on the model's device: no step reads anything back."""

    def __init__(self, num_slots: int, device: torch.device) -> None:
        self._threshold = torch.zeros(num_slots, device=device)
        self._min_frames = torch.zeros(num_slots, dtype=torch.long, device=device)
        self._tail = torch.zeros_like(self._min_frames)
        self._may_fall = False
        self._falls = torch.zeros(num_slots, 4, device=device)
        self._num_near = torch.zeros_like(self._min_frames)
        self.falls_from = torch.full_like(self._min_frames, -1)
        """The frame from which on a row's threshold falls, or -1."""
        self.fired_at = torch.full_like(self._min_frames, -1)
        """The frame of its end of speech, or -1."""
        self.num_frames = torch.zeros_like(self._min_frames)
        """How many frames each row has."""
        self.end = torch.zeros_like(self._min_frames)
        """How many it will have: its budget, until its end of speech is seen."""

    def begin(self, slot: int, rule: StopRule) -> None:
        self._threshold[slot] = rule.threshold
        self._min_frames[slot] = rule.min_frames
        self._tail[slot] = rule.tail_frames
        self._may_fall |= rule.fall > 0
        self._falls[slot] = torch.tensor((rule.fall, rule.near, rule.near_frames, rule.earliest_frame))
        self._num_near[slot] = 0
        self.falls_from[slot] = -1
        self.fired_at[slot] = -1
        self.num_frames[slot] = 0
        self.end[slot] = rule.budget

    def update(self, rows: slice | Tensor, logits: Tensor) -> None:
        """Count the frame that these rows have just made, `logits` being those of that frame, one a row."""
        frame, threshold = self.num_frames[rows], self._threshold[rows]
        if self._may_fall:
            threshold = self._fallen(rows, frame, threshold, logits)
        fires = (logits > threshold) & (frame >= self._min_frames[rows]) & (self.fired_at[rows] < 0)
        fires &= frame < self.end[rows]  # frames made since, before anybody has asked, are no part of the row
        self.fired_at[rows] = torch.where(fires, frame, self.fired_at[rows])
        self.end[rows] = torch.where(fires, torch.minimum(self.end[rows], frame + 1 + self._tail[rows]), self.end[rows])
        self.num_frames[rows] = frame + 1

    def _fallen(self, rows: slice | Tensor, frame: Tensor, threshold: Tensor, logits: Tensor) -> Tensor:
        """The rows' thresholds on this frame: lower ones where speech has nearly ended and doesn't end."""
        fall, near, near_frames, earliest = self._falls[rows].unbind(1)
        is_near = (logits > threshold - near) & (frame >= earliest)
        num_near = torch.where(is_near, self._num_near[rows] + 1, 0)
        begins = (fall > 0) & (self.falls_from[rows] < 0) & (num_near >= near_frames)
        falls_from = torch.where(begins, frame, self.falls_from[rows])
        self._num_near[rows], self.falls_from[rows] = num_near, falls_from
        return torch.where(falls_from >= 0, threshold - fall * (frame - falls_from), threshold)

    def state(self, num_rows: int) -> list[tuple[int, int, bool]]:
        """Of the first slots' rows: frames made, frames to make, whether speech has ended. Waits for the device."""
        columns = torch.stack([column[:num_rows] for column in (self.num_frames, self.end, self.fired_at)], 1)
        return [(made, end, fired_at >= 0) for made, end, fired_at in columns.tolist()]

    def move(self, source: int, target: int) -> None:
        columns = (self._threshold, self._min_frames, self._tail, self._falls, self._num_near)
        for column in (*columns, self.falls_from, self.fired_at, self.num_frames, self.end):
            column[target] = column[source]


@dataclass(frozen=True, slots=True)
class BoostRule:
    """When a row of a model with a codec vocabulary ends: `RankBoost` says what the numbers do.

    earliest_step: what is seen on steps before it arms nothing. scale 0: the scores are left as they are.
    """

    trigger_rank: float
    trigger_steps: int
    earliest_step: int
    scale: float
    budget: int
    """The most steps; a row that gets there without an end of speech has missed it."""
    expected: float = 0.0
    """How many steps its text is expected to take; for whoever reads a trace."""


class RankBoost:
    """End of speech by the rank of its token, for models that choose one token of a codec a step.

    After a field report (docs/eos.md). A row is armed by `trigger_steps` steps in a row, none before `earliest_step`,
    on which fewer than `trigger_rank` tokens score higher than end of speech. On the k-th step since, `k * scale` is
    added to its score; once no token scores higher it is the only choice. Where it is chosen before that, or the budget
    is reached, the row is over too, and what is over is left alone.

    An instance is a logits processor of transformers, and `ends` a stopping criterion, for rows that begin together in
    the slots from 0 on; a loop of one's own calls `lift` and `count` with the slots that it steps. Nothing is read back
    from the device.
    """

    def __init__(self, num_slots: int, eos_id: int, device: torch.device) -> None:
        self._eos_id = eos_id
        self._rules = torch.zeros(num_slots, 5, device=device)
        self._dips = torch.zeros(num_slots, dtype=torch.long, device=device)
        self._has_ended = torch.zeros(num_slots, dtype=torch.bool, device=device)
        self._is_over = torch.ones_like(self._has_ended)
        self.num_steps = torch.zeros_like(self._dips)
        """How many tokens each row has, its end of speech among them."""
        self.armed_at = torch.full_like(self._dips, -1)
        """The step on which it was armed, or -1."""
        self.ranks = torch.zeros_like(self._dips)
        """How many tokens scored higher than end of speech on its last step, before any boost."""
        self.is_only_choice = torch.zeros_like(self._has_ended)
        """Whether end of speech was the only choice that its last step had."""

    def begin(self, slot: int, rule: BoostRule) -> None:
        numbers = rule.trigger_rank, rule.trigger_steps, rule.earliest_step, rule.scale, rule.budget
        self._rules[slot] = torch.tensor(numbers)
        for column in (self.num_steps, self._dips, self._has_ended, self._is_over):
            column[slot] = 0
        self.armed_at[slot] = -1

    def __call__(self, input_ids: Tensor, scores: Tensor) -> Tensor:
        return self.lift(slice(0, len(scores)), scores)

    def ends(self, input_ids: Tensor, scores: object, **_: object) -> Tensor:
        rows = slice(0, len(input_ids))
        return self.count(rows, input_ids[:, -1] == self._eos_id)

    def lift(self, rows: slice | Tensor, scores: Tensor) -> Tensor:
        """The scores of the step that these rows are about to make, `[num_rows, vocabulary]`, with the boost."""
        trigger_rank, trigger_steps, earliest_step, scale, _ = self._rules[rows].unbind(1)
        step, eos = self.num_steps[rows], scores[:, self._eos_id]
        is_on = (scale > 0) & ~self._is_over[rows]
        rank = _num_above(scores, eos)
        is_dip = (rank < trigger_rank) & (step >= earliest_step)
        dips = torch.where(is_dip, self._dips[rows] + 1, 0)
        armed_at = torch.where(is_on & (self.armed_at[rows] < 0) & (dips >= trigger_steps), step, self.armed_at[rows])
        is_armed = is_on & (armed_at >= 0)
        lifted = torch.where(is_armed, eos + (step - armed_at) * scale, eos).to(scores.dtype)
        fires = is_armed & (_num_above(scores, lifted, but=self._eos_id) == 0)
        self._dips[rows], self.armed_at[rows] = dips, armed_at
        self.ranks[rows], self.is_only_choice[rows] = rank, fires
        scores = scores.masked_fill(fires[:, None], -torch.inf)
        scores[:, self._eos_id] = lifted
        return scores

    def count(self, rows: slice | Tensor, is_end: Tensor) -> Tensor:
        """Count the step that these rows have made, `is_end` where it chose end of speech; returns which are over."""
        is_live = ~self._is_over[rows]
        self.num_steps[rows] += is_live
        self._has_ended[rows] |= is_live & is_end
        self._is_over[rows] |= is_live & (is_end | (self.num_steps[rows] >= self._rules[rows, 4]))
        return self._is_over[rows]

    def state(self, rows: slice | Tensor) -> list[tuple[int, bool, bool]]:
        """Of each row: steps made, whether it is over, whether by end of speech. Waits for the device."""
        columns = torch.stack([c[rows].long() for c in (self.num_steps, self._is_over, self._has_ended)], 1)
        return [(made, bool(over), bool(ended)) for made, over, ended in columns.tolist()]


def _num_above(scores: Tensor, eos: Tensor, but: int | None = None) -> Tensor:
    """How many scores of each row are higher than `eos`: `[num_rows]`. What is no number counts as higher."""
    is_above = ~(scores <= eos[:, None])
    if but is not None:
        is_above[:, but] = False
    return is_above.sum(1)
