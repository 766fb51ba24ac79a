"""Rows that are said together: how each chooses its tokens, and when it ends, whatever the others do."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from pipeline.engines.base import EosTrace
from pipeline.engines.codec_tokens import choose_tokens, draw_keys, rank_trace
from pipeline.engines.eos import BoostRule, RankBoost


class Wave:
    """The choices of one `generate` of the talker, and of the code predictor's that it calls each step.

    Their `generate` takes what `talker_arguments` and `inner_arguments` make of its arguments. Choices are made by each
    row's own keys, so that a row says the same in any batch: transformers would draw them all from one generator.
    """

    def __init__(
        self,
        seeds: Sequence[int],
        rules: Sequence[BoostRule],
        sampling: Mapping[str, float],
        eos_id: int,
        num_codebooks: int,
        device: torch.device,
        num_padding: int = 0,
    ) -> None:
        """`num_padding`: positions to put before all prompts."""
        self._sampling, self._eos_id, self._num_padding = sampling, eos_id, num_padding
        self._boost = RankBoost(len(seeds), eos_id, device)
        self._most_steps = max(rule.budget for rule in rules)
        keys = torch.zeros(len(seeds), self._most_steps, num_codebooks, dtype=torch.long)
        for slot, (seed, rule) in enumerate(zip(seeds, rules, strict=True)):
            self._boost.begin(slot, rule)
            keys[slot, : rule.budget] = draw_keys(seed, rule.budget, num_codebooks)
        self._keys = keys.to(device)
        self._rules = rules
        self._frame = 0
        self._ranks: list[Tensor] = []
        self._is_broken = torch.zeros(len(seeds), dtype=torch.bool, device=device)

    def talker_arguments(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        pad = torch.nn.functional.pad
        return self._choosing(
            arguments,
            [self._boost, self._choose_first],
            inputs_embeds=pad(arguments["inputs_embeds"], (0, 0, self._num_padding, 0)),
            attention_mask=pad(arguments["attention_mask"], (self._num_padding, 0)),
            stopping_criteria=[self._boost.ends],
            max_new_tokens=self._most_steps,
            pad_token_id=self._eos_id,
        )

    def inner_arguments(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        return self._choosing(arguments, [self._choose_other])

    def results(self) -> list[tuple[int, bool, bool]]:
        """Of each row: its frames, whether its speech ended, whether its scores were no numbers."""
        broken = self._is_broken.tolist()
        state = self._boost.state(slice(0, len(broken)))
        # The last step has no frame: it is end of speech, or its other codebooks were never made.
        return [(made - 1, ended, is_broken) for (made, _, ended), is_broken in zip(state, broken, strict=True)]

    def trace(self, slot: int, frames_per_second: float) -> EosTrace:
        """What a row's end of speech was judged by."""
        [(made, _, has_ended)] = self._boost.state(slice(slot, slot + 1))
        num_seen = made if has_ended else made - 1  # a last step that ends nothing makes no frame
        ranks = [ranks[slot] for ranks in self._ranks[:num_seen]]
        return rank_trace(self._boost, slot, self._rules[slot], ranks, has_ended, frames_per_second)

    def _choosing(
        self, arguments: Mapping[str, Any], choose: Sequence[Callable[[Tensor, Tensor], Tensor]], **more: Any
    ) -> dict[str, Any]:
        from transformers import LogitsProcessorList, StoppingCriteriaList

        ours = {name: value for name, value in arguments.items() if name not in ("temperature", "top_k", "top_p")}
        if "stopping_criteria" in more:
            more["stopping_criteria"] = StoppingCriteriaList(more["stopping_criteria"])
        return {**ours, **more, "do_sample": False, "logits_processor": LogitsProcessorList(choose)}

    def _choose_first(self, input_ids: Tensor, scores: Tensor) -> Tensor:
        """The first codebook's tokens. A row whose scores are no numbers ends here."""
        self._frame = input_ids.shape[1]
        self._ranks.append(self._boost.ranks.clone())
        self._is_broken |= scores.isnan().any(1)
        keys = self._keys[:, self._frame, 0]
        chosen = choose_tokens(scores, self._sampling["temperature"], int(self._sampling["top_k"]), keys)
        if self._frame:  # the package can't go on without a frame
            chosen = torch.where(self._is_broken, self._eos_id, chosen)
        return _only(scores, chosen)

    def _choose_other(self, input_ids: Tensor, scores: Tensor) -> Tensor:
        """A further codebook's tokens, of the frame whose first was chosen last."""
        self._is_broken |= scores.isnan().any(1)
        keys = self._keys[:, self._frame, 1 + input_ids.shape[1]]
        sampling = self._sampling
        return _only(scores, choose_tokens(scores, sampling["inner_temperature"], int(sampling["inner_top_k"]), keys))


def _only(scores: Tensor, chosen: Tensor) -> Tensor:
    """Scores by which nothing but the chosen tokens can be taken."""
    return torch.full_like(scores, -torch.inf).scatter(1, chosen[:, None], 0.0)
