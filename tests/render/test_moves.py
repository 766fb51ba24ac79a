"""The table of next moves, case by case."""

from __future__ import annotations

import pytest

from pipeline.render.moves import Accept, GiveUp, Retry, RunAlone, Split, next_move
from pipeline.render.takes import Outcome


def refused(attempt: int) -> Outcome:
    return Outcome(attempt, "refused", message="clipped")


def crash(attempt: int, alone: bool = False) -> Outcome:
    return Outcome(attempt, "crash", alone, "its worker died")


REDO = Outcome(-1, "redo")


@pytest.mark.parametrize(
    ("history", "move"),
    [
        ([], Retry(0)),
        ([Outcome(0, "accepted")], Accept(0)),
        ([refused(0)], Retry(1)),
        ([refused(0), Outcome(1, "accepted")], Accept(1)),
        ([refused(0), refused(1)], Retry(2)),
        ([refused(0), refused(1), refused(2)], Split(3)),
        ([refused(0), refused(1), refused(2), Outcome(3, "accepted")], Accept(3)),
        ([crash(0)], RunAlone(0)),
        ([crash(0), crash(0, alone=True)], RunAlone(0)),
        ([crash(0), crash(0, True), crash(0, True)], GiveUp("its worker died (2 times alone)")),
        ([crash(0), crash(0), crash(0)], RunAlone(0)),
        ([refused(0), crash(1)], RunAlone(1)),
        ([crash(0, True), refused(0), crash(1, True)], RunAlone(1)),
        ([Outcome(0, "out of memory")], RunAlone(0)),
        ([Outcome(0, "exception", message="no such phoneme")], GiveUp("no such phoneme")),
        ([Outcome(0, "accepted"), REDO], Retry(1)),
        ([Outcome(0, "accepted"), REDO, refused(1)], Retry(2)),
        ([Outcome(0, "accepted"), REDO, Outcome(1, "accepted")], Accept(1)),
        ([refused(0), refused(1), refused(2), REDO], Retry(4)),
        ([refused(0), refused(1), refused(2), REDO, refused(4), refused(5)], Retry(6)),
        ([Outcome(0, "exception", message="x"), REDO], Retry(1)),
        ([crash(0), crash(0, True), crash(0, True), REDO, crash(1)], RunAlone(1)),
    ],
)
def test_next_move(history, move):
    assert next_move(history, num_attempts=3) == move


def test_no_history_asks_for_an_attempt_that_was_judged():
    """An attempt that has its verdict is never asked for again, whatever happened since."""
    kinds = ["accepted", "refused", "redo", "crash", "out of memory"]
    for a in kinds:
        for b in kinds:
            for c in kinds:
                history: list[Outcome] = []
                for kind in (a, b, c):
                    move = next_move(history, 3)
                    attempt = move.attempt if isinstance(move, Retry | RunAlone) else 0
                    if isinstance(move, Retry | RunAlone):
                        assert attempt not in {o.attempt for o in history if o.kind in ("accepted", "refused")}
                    elif kind != "redo":
                        break
                    history.append(Outcome(attempt, kind, isinstance(move, RunAlone)))  # type: ignore[arg-type]
