"""CSM in batches: every slot a row of its own, refilled as soon as its row ends."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor

from pipeline.engines.base import Failed, RawTake, Request, Stop
from pipeline.engines.codec_tokens import boost_rule, choose_each, draw_keys, rank_trace
from pipeline.engines.csm.model import CsmModel, Past, Prompt, join
from pipeline.engines.eos import BoostRule, RankBoost

PromptOf = Callable[[Request], Prompt]


@dataclass(slots=True, eq=False)
class _Row:
    request: Request
    prompt: Prompt
    rule: BoostRule
    keys: Tensor
    slot: int
    codes: list[Tensor] = field(default_factory=list)
    ranks: list[Tensor] = field(default_factory=list)
    """Of end of speech on each step, where they are wanted."""


class CsmEngine:
    """Rows that wait are read one by one; then each step makes a frame for every row.

    A row's choices are drawn from its seed alone: its codes are the same in any batch, but where two tokens are as good
    as each other to the last bits of a batch's arithmetic.
    """

    def __init__(self, model: CsmModel, prompt_of: PromptOf, num_slots: int, device: torch.device) -> None:
        self._model, self._prompt_of, self._device = model, prompt_of, device
        self._free = deque(range(num_slots))
        self._boost = RankBoost(num_slots, model.eos_id, device)
        self._waiting: deque[_Row] = deque()
        self._rows: list[_Row] = []
        self._hidden: Tensor | None = None
        self._past: Past | None = None

    @property
    def free_slots(self) -> int:
        return len(self._free)

    @torch.inference_mode()
    def admit(self, request: Request) -> None:
        prompt = self._prompt_of(request)
        num_tokens = self._model.num_tokens(request.text)
        rule = boost_rule(request.sampling, num_tokens, request.budget, self._model.frames_per_second)
        if not self._model.has_room(prompt, rule.budget):
            raise ValueError(
                f"{len(prompt)} positions of voice and text and {rule.budget} frames are more than the model has room "
                "for: take a shorter recording, or a lower max_share"
            )
        keys = draw_keys(request.seed, rule.budget, self._model.num_codebooks).to(self._device)
        slot = self._free.popleft()
        self._boost.begin(slot, rule)
        self._waiting.append(_Row(request, prompt, rule, keys, slot))

    @torch.inference_mode()
    def step(self) -> list[RawTake | Failed]:
        self._read()
        if self._hidden is None:
            return []
        slots = torch.tensor([row.slot for row in self._rows], device=self._device)
        codes, is_end = self._choose(slots, self._hidden)
        self._boost.count(slots, is_end)
        is_sound = torch.isfinite(self._hidden).all(1).tolist()
        done: list[RawTake | Failed] = []
        staying: list[int] = []
        for number, (_, is_over, has_ended) in enumerate(self._boost.state(slots)):
            row = self._rows[number]
            if row.request.wants_trace:
                row.ranks.append(self._boost.ranks[row.slot].clone())
            if not is_sound[number]:
                message = "the model made a state that is no number; fetch its weights again, or try dtype: float32"
                done.append(Failed(row.request.key, row.request.attempt, "exception", message))
                continue
            if not has_ended:
                row.codes.append(codes[number])
            if is_over:
                done.append(self._take(row, "eos" if has_ended else "budget"))
            else:
                staying.append(number)
        self._keep(staying, codes)
        return done

    def _read(self) -> None:
        """Read the prompts that wait; their rows come after those that are there."""
        if not self._waiting:
            return
        read = [self._model.read(row.prompt) for row in self._waiting]
        states = [hidden for hidden, _ in read] if self._hidden is None else [self._hidden, *(h for h, _ in read)]
        pasts = [past for _, past in read] if self._past is None else [self._past, *(past for _, past in read)]
        self._hidden, self._past = torch.cat(states), join(pasts)
        self._rows += self._waiting
        self._waiting.clear()

    def _choose(self, slots: Tensor, hidden: Tensor) -> tuple[Tensor, Tensor]:
        """The next frame of every row, and where that is the end of speech."""
        asked = [row.request.sampling for row in self._rows]
        keys = torch.stack([row.keys[len(row.codes)] for row in self._rows])
        first = [(one["temperature"], int(one["top_k"])) for one in asked]
        inner = [(one["inner_temperature"], int(one["inner_top_k"])) for one in asked]
        scores = self._boost.lift(slots, self._model.scores(hidden))
        chosen = choose_each(scores, first, keys[:, 0])
        codes = self._model.codes(hidden, chosen, lambda at, scores: choose_each(scores, inner, keys[:, at]))
        # The token of end of speech is a sound, too: by the model's own rule all of a frame but its last must be it.
        is_end = (codes[:, :-1] == self._model.eos_id).all(1) | self._boost.is_only_choice[slots]
        return codes, is_end

    def _keep(self, staying: list[int], codes: Tensor) -> None:
        """Let all rows but these leave; the backbone reads the frames of those that stay."""
        stays = set(staying)
        self._free.extend(row.slot for number, row in enumerate(self._rows) if number not in stays)
        was_full = len(staying) == len(self._rows)
        self._rows = [self._rows[number] for number in staying]
        if not staying:
            self._hidden = self._past = None
            return
        assert self._past is not None
        past = self._past if was_full else self._past.kept(staying)
        self._hidden, self._past = self._model.go_on(codes[staying], past)

    def _take(self, row: _Row, stop: Stop) -> RawTake:
        samples = self._model.decode(torch.stack(row.codes)).numpy() if row.codes else np.zeros(0, np.float32)
        trace = None
        if row.request.wants_trace:
            rate = self._model.frames_per_second
            trace = rank_trace(self._boost, row.slot, row.rule, row.ranks, stop == "eos", rate)
        return RawTake(row.request.key, row.request.attempt, stop, samples, len(row.codes), trace)
