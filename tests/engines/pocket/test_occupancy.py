"""Slots are kept full: of all that is computed until the queue is dry, nearly all is somebody's speech."""

from __future__ import annotations

import dataclasses
import random
from pathlib import Path

import pytest

from pipeline.engines.base import Request
from pipeline.render.backlog import longest_first
from pipeline.script.script import Boundary, Chunk
from tests.engines.pocket.conftest import MakeTiny, kyutai_voice, open_engine

pytestmark = [pytest.mark.pocket, pytest.mark.slow, pytest.mark.usefixtures("one_thread")]

NUM_CHUNKS, NUM_SLOTS, WINDOW = 300, 32, 100


def chunks_of_a_book() -> list[Chunk]:
    """Mostly a sentence or two of some thirty tokens, now and then a short or a long one; fifty a chapter."""
    draw = random.Random(1)
    counts = [min(max(round(draw.lognormvariate(3.3, 0.5)), 4), 90) for _ in range(NUM_CHUNKS)]
    return [
        Chunk(str(number), "", "the " * count, count, (), number // 50, number % 50, Boundary.SENTENCE)
        for number, count in enumerate(counts)
    ]


def test_slots_are_full_until_the_queue_is_dry(tiny: MakeTiny, tmp_path: Path) -> None:
    voice = kyutai_voice(tmp_path, tiny(flow="lsd"))
    engine = open_engine(voice, NUM_SLOTS)
    draw = random.Random(2)
    queue = [
        # As long as its speech takes, which its tokens foretell only roughly: 2.8 frames each, give or take a fifth.
        Request(chunk.key, chunk.prepared, 0, number, round(chunk.num_tokens * draw.uniform(2.2, 3.4)) + 4,
                {"eos_threshold": 1e9})
        for number, chunk in enumerate(longest_first(chunks_of_a_book(), WINDOW))
    ]  # fmt: skip
    num_frames = {request.key: request.budget for request in queue}
    spoken: dict[str, int] = {}
    at_dry = None
    while len(spoken) < NUM_CHUNKS:
        while queue and engine.free_slots:
            engine.admit(queue.pop(0))
        if not queue and at_dry is None:
            at_dry = dataclasses.replace(engine.counters)
        spoken |= {take.key: take.num_frames for take in engine.step()}
    assert spoken == num_frames
    assert at_dry is not None
    counted = engine.counters
    occupancy = at_dry.row_steps / (at_dry.steps * NUM_SLOTS)
    drain_steps, drain_rows = counted.steps - at_dry.steps, counted.row_steps - at_dry.row_steps
    print(
        f"\n{occupancy:.1%} of {at_dry.steps} steps of {NUM_SLOTS} slots until the queue was dry; then {drain_steps} "
        f"steps at {drain_rows / drain_steps:.1f} rows; {counted.prefill_positions} positions read in "
        f"{counted.prefills} prefills beside {counted.row_steps} row-steps"
    )
    assert occupancy >= 0.95
    # Every frame but each row's first, which its prefill makes, is counted once.
    assert counted.row_steps == sum(num_frames.values()) - NUM_CHUNKS
