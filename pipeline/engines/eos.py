"""End of speech by threshold: one logit a frame, and a rule of each row's own.

After Pocket TTS (pocket-tts 4.0.1, transformers 5.24): a frame whose logit is above the threshold ends the speech,
a few frames more let the codec close it. Each row has its own threshold, minimum, tail and budget.
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


def tail_frames(text: str) -> int:
    """Frames after the end-of-speech frame, by the length of the text."""
    return TAIL_SHORT if len(text.split()) <= SHORT_TEXT_WORDS else TAIL_LONG


class EndOfSpeech:
    """The state of all slots' rows, on the model's device: nothing is read back to make a step."""

    def __init__(self, num_slots: int, device: torch.device) -> None:
        self._threshold = torch.zeros(num_slots, device=device)
        self._min_frames = torch.zeros(num_slots, dtype=torch.long, device=device)
        self._tail = torch.zeros_like(self._min_frames)
        self._has_fired = torch.zeros(num_slots, dtype=torch.bool, device=device)
        self.num_frames = torch.zeros_like(self._min_frames)
        """How many frames each row has."""
        self.end = torch.zeros_like(self._min_frames)
        """How many it will have: its budget, until its end of speech is seen."""

    def begin(self, slot: int, rule: StopRule) -> None:
        self._threshold[slot] = rule.threshold
        self._min_frames[slot] = rule.min_frames
        self._tail[slot] = rule.tail_frames
        self._has_fired[slot] = False
        self.num_frames[slot] = 0
        self.end[slot] = rule.budget

    def update(self, rows: slice | Tensor, logits: Tensor) -> None:
        """Count the frame that these rows have just made, `logits` being those of that frame, one a row."""
        frame = self.num_frames[rows]
        fires = (logits > self._threshold[rows]) & (frame >= self._min_frames[rows]) & ~self._has_fired[rows]
        fires &= frame < self.end[rows]  # frames made since, before anybody has asked, are no part of the row
        self._has_fired[rows] |= fires
        self.end[rows] = torch.where(fires, torch.minimum(self.end[rows], frame + 1 + self._tail[rows]), self.end[rows])
        self.num_frames[rows] = frame + 1

    def state(self, num_rows: int) -> list[tuple[int, int, bool]]:
        """Of the first slots' rows: frames made, frames to make, whether speech has ended. Waits for the device."""
        columns = torch.stack([self.num_frames[:num_rows], self.end[:num_rows], self._has_fired[:num_rows].long()], 1)
        return [(made, end, bool(fired)) for made, end, fired in columns.tolist()]

    def move(self, source: int, target: int) -> None:
        columns = (self._threshold, self._min_frames, self._tail, self._has_fired, self.num_frames, self.end)
        for column in columns:
            column[target] = column[source]
