"""The slot table: no row lost or doubled, the lowest slot first, gaps closed when nobody waits to fill them."""

from __future__ import annotations

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from pipeline.engines.pocket.slots import SlotTable


class Slots(RuleBasedStateMachine):
    """Any order of what an engine does with its table; `slots` is what must be in them."""

    @initialize(num_slots=st.integers(1, 6), num_ahead=st.integers(1, 3))
    def open(self, num_slots: int, num_ahead: int) -> None:
        self.table: SlotTable[int] = SlotTable(num_slots, num_ahead)
        self.capacity = num_slots + num_ahead
        self.slots: list[int | None] = [None] * num_slots
        self.waiting: list[int] = []
        self.next_row = 0

    @precondition(lambda self: self.table.num_free)
    @rule()
    def push(self) -> None:
        self.table.push(self.next_row)
        self.waiting.append(self.next_row)
        self.next_row += 1

    @rule()
    def fill(self) -> None:
        expected = []
        for slot, row in enumerate(self.slots):
            if row is None and self.waiting:
                self.slots[slot] = self.waiting.pop(0)
                expected.append((slot, self.slots[slot]))
        assert self.table.fill() == expected

    @precondition(lambda self: any(row is not None for row in self.slots))
    @rule(data=st.data())
    def leave(self, data: st.DataObject) -> None:
        slot = data.draw(st.sampled_from([slot for slot, row in enumerate(self.slots) if row is not None]))
        assert self.table.leave(slot) == self.slots[slot]
        self.slots[slot] = None
        with pytest.raises(LookupError):
            self.table.leave(slot)

    @rule()
    def compact(self) -> None:
        moves = self.table.compact()
        if self.waiting:
            assert moves == []
        for source, target in moves:
            assert self.slots[source] is not None
            assert self.slots[target] is None
            assert target < source
            self.slots[target], self.slots[source] = self.slots[source], None
        if not self.waiting:
            num_live = sum(row is not None for row in self.slots)
            assert None not in self.slots[:num_live]
            assert len(moves) <= num_live

    @invariant()
    def holds_each_row_once_and_counts_it(self) -> None:
        live = [(slot, row) for slot, row in enumerate(self.slots) if row is not None]
        assert list(self.table.live()) == live
        assert all(self.table[slot] == row for slot, row in live)
        assert self.table.num_live == len(live)
        assert self.table.num_waiting == len(self.waiting)
        assert self.table.height == max((slot + 1 for slot, _ in live), default=0)
        assert self.table.num_free == self.capacity - len(live) - len(self.waiting) >= 0


TestSlots = Slots.TestCase
