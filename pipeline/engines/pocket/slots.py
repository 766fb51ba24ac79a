"""Which row is in which slot: plain bookkeeping, without a tensor."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Generic, TypeVar

Row = TypeVar("Row")


class SlotTable(Generic[Row]):
    """`num_slots` places for rows, and a queue before them. A row that leaves makes room for the next at once."""

    def __init__(self, num_slots: int, num_ahead: int) -> None:
        self.num_slots = num_slots
        self._num_ahead = num_ahead
        self._rows: list[Row | None] = [None] * num_slots
        self._waiting: deque[Row] = deque()

    @property
    def num_free(self) -> int:
        """How many more rows are taken now, those that would wait among them."""
        return self.num_slots + self._num_ahead - self.num_live - len(self._waiting)

    @property
    def num_live(self) -> int:
        return sum(row is not None for row in self._rows)

    @property
    def num_waiting(self) -> int:
        return len(self._waiting)

    @property
    def height(self) -> int:
        """The lowest number of slots, from the first on, that holds every live row."""
        return max((slot + 1 for slot, row in enumerate(self._rows) if row is not None), default=0)

    def push(self, row: Row) -> None:
        self._waiting.append(row)

    def fill(self) -> list[tuple[int, Row]]:
        """Put what waits into free slots, the lowest first; returns who has come in, and where."""
        placed = []
        for slot, row in enumerate(self._rows):
            if row is None and self._waiting:
                self._rows[slot] = self._waiting.popleft()
                placed.append((slot, self[slot]))
        return placed

    def live(self) -> Iterator[tuple[int, Row]]:
        for slot, row in enumerate(self._rows):
            if row is not None:
                yield slot, row

    def leave(self, slot: int) -> Row:
        row = self[slot]
        self._rows[slot] = None
        return row

    def compact(self) -> list[tuple[int, int]]:
        """Close the gaps once nobody waits to fill them; returns the moves, from slot to slot, in order."""
        if self._waiting:
            return []
        moves = []
        while (num_live := self.num_live) < (height := self.height):
            target = self._rows.index(None)
            assert target < num_live
            self._rows[target], self._rows[height - 1] = self._rows[height - 1], None
            moves.append((height - 1, target))
        return moves

    def __getitem__(self, slot: int) -> Row:
        row = self._rows[slot]
        if row is None:
            raise LookupError(f"slot {slot} is empty")
        return row
