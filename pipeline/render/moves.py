"""What to do next with a chunk, from its history alone: a table of cases, without state."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pipeline.render.takes import Outcome

MAX_LONE_DEATHS = 2


@dataclass(frozen=True, slots=True)
class Accept:
    attempt: int


@dataclass(frozen=True, slots=True)
class Retry:
    """Render it, or render it again, as this attempt."""

    attempt: int


@dataclass(frozen=True, slots=True)
class RunAlone:
    """The same attempt with nothing beside it: it was alive when a worker died, and is a suspect."""

    attempt: int


@dataclass(frozen=True, slots=True)
class Split:
    """Cut it in two; the takes of the parts become one under this attempt."""

    attempt: int


@dataclass(frozen=True, slots=True)
class GiveUp:
    reason: str


Move = Accept | Retry | RunAlone | Split | GiveUp


def next_move(history: Sequence[Outcome], num_attempts: int) -> Move:
    """Only a verdict (`refused`) or a user's `redo` advances the attempt, never a crash.

    `num_attempts` refusals in a row lead to a split. A redo starts the counting anew. What was lost with a machine
    leaves no trace.
    """
    history = [outcome for outcome in history if outcome.kind != "lost"]
    if not history:
        return Retry(0)
    last = history[-1]
    attempt = sum(1 for outcome in history if outcome.kind in ("refused", "redo"))
    since_redo = history[_after_last_redo(history) :]
    if last.kind == "accepted":
        return Accept(last.attempt)
    if last.kind in ("refused", "redo"):
        num_refused = sum(1 for outcome in since_redo if outcome.kind == "refused")
        return Split(attempt) if num_refused >= num_attempts else Retry(attempt)
    if last.kind == "exception":
        return GiveUp(last.message)
    lone = sum(1 for outcome in since_redo if outcome.alone and outcome.attempt == attempt)
    if lone >= MAX_LONE_DEATHS:
        return GiveUp(f"{last.message} ({lone} times alone)")
    return RunAlone(attempt)


def _after_last_redo(history: Sequence[Outcome]) -> int:
    return next((i + 1 for i in reversed(range(len(history))) if history[i].kind == "redo"), 0)
