"""What is left of a book, chunk by chunk: all of it follows from the script and the ledger."""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto

from pipeline.engines.base import Failed, Frontend, Request
from pipeline.render.moves import Accept, GiveUp, Retry, RunAlone, Split, next_move
from pipeline.render.takes import Outcome, Take
from pipeline.script.script import Boundary, Chunk
from pipeline.script.splitter import halve
from pipeline.script.write import part_key
from pipeline.voices import Voice


@dataclass(frozen=True, slots=True)
class RenderRules:
    """From the profile: refusals before a chunk is split, how often it may be, and the engine's sampling.

    longest_first_within: how many chunks, as whole chapters, are asked for longest first; 0 for the book's order.
    """

    attempts: int
    max_splits: int
    sampling: Mapping[str, float]
    longest_first_within: int = 0
    voice: Voice | None = None
    """Who reads, where replicas of its model have several voices."""
    wants_trace: bool = False


@dataclass(frozen=True, slots=True)
class Listed:
    """A chunk that could not be rendered, and why."""

    chunk: Chunk
    reason: str


@dataclass(frozen=True, slots=True)
class Composite:
    """A split chunk whose parts are all accepted: their takes become one under the chunk's key."""

    key: str
    attempt: int
    parts: tuple[tuple[str, int], ...]
    """Key and attempt of each part's accepted take, in order."""
    inner_ends: Boundary


class _State(Enum):
    QUEUED = auto()
    IN_FLIGHT = auto()
    SPLIT = auto()
    ACCEPTED = auto()
    GIVEN_UP = auto()


@dataclass(slots=True)
class _Item:
    """A chunk, or a part of one, on its way."""

    chunk: Chunk
    history: list[Outcome]
    depth: int = 0
    parent: str = ""
    state: _State = _State.QUEUED
    attempt: int = 0
    parts: tuple[str, ...] = ()
    inner_ends: Boundary = Boundary.CLAUSE
    reason: str = ""

    @property
    def is_resolved(self) -> bool:
        return self.state in (_State.ACCEPTED, _State.GIVEN_UP)


class Backlog:
    """What is left of a book. All of it follows from the chunks and the ledger's histories."""

    def __init__(
        self,
        chunks: Sequence[Chunk],
        histories: Mapping[str, Sequence[Outcome]],
        frontend: Frontend,
        language: str,
        rules: RenderRules,
        num_first: int,
    ) -> None:
        self._chunks = chunks
        self._num_chunks = len(chunks)
        self._accepted: dict[str, int] | None = None  # once the chunks are forgotten
        self._frontend = frontend
        self._language = language
        self._rules = rules
        self._histories = histories
        self._items: dict[str, _Item] = {}
        self._queue: deque[str] = deque()
        self._suspects: deque[str] = deque()
        self._composites: list[Composite] = []
        self._num_in_flight = 0
        self._num_resolved = 0
        self._left_in_chapter: dict[int, int] = {}
        self._first = {chunk.key for chunk in chunks[:num_first]}
        self._finished: list[int] = []
        for chunk in chunks:
            self._left_in_chapter[chunk.chapter] = self._left_in_chapter.get(chunk.chapter, 0) + 1
        for chunk in longest_first(chunks, rules.longest_first_within):
            self._add(_Item(chunk, list(histories.get(chunk.key, []))))

    @property
    def num_chunks(self) -> int:
        return self._num_chunks

    @property
    def num_resolved(self) -> int:
        return self._num_resolved

    @property
    def num_in_flight(self) -> int:
        return self._num_in_flight

    @property
    def num_queued(self) -> int:
        return len(self._queue)

    @property
    def num_suspects(self) -> int:
        """Requests that must run alone."""
        return len(self._suspects)

    @property
    def num_waiting(self) -> int:
        """Requests that could be asked for now."""
        return len(self._queue) + len(self._suspects)

    def is_open(self) -> bool:
        return bool(self._num_in_flight or self._queue or self._suspects or self._composites)

    def next(self) -> Request | None:
        """The next request, or None while there is nothing to ask for now."""
        return self._ask(self._queue.popleft()) if self._queue else None

    def next_suspect(self) -> Request | None:
        """The next request that must run alone, or None."""
        return self._ask(self._suspects.popleft()) if self._suspects else None

    def apply(self, outcome: Take | Failed) -> None:
        """Move on the chunk that an outcome is of. The outcome must already be in the store."""
        item = self._items[outcome.key]
        self._num_in_flight -= 1
        self._note(item, outcome)

    def composites(self) -> list[Composite]:
        """Split chunks to be put together; each is handed out once, and comes back by `compose`."""
        ready, self._composites = self._composites, []
        return ready

    def compose(self, take: Take) -> None:
        self._note(self._items[take.key], take)

    def finished_chapters(self) -> list[int]:
        """Chapters all of whose chunks are resolved, each once, as soon as the book's first chunks are too."""
        if self._first:
            return []
        finished, self._finished = self._finished, []
        return finished

    def chapter_of(self, key: str) -> int:
        return self._items[key].chunk.chapter

    def is_listed(self, key: str) -> bool:
        return self._items[key].state is _State.GIVEN_UP

    def accepted(self) -> dict[str, int]:
        """The attempt that stands, by chunk key."""
        if self._accepted is not None:
            return self._accepted
        return {
            chunk.key: self._items[chunk.key].attempt
            for chunk in self._chunks
            if self._items[chunk.key].state is _State.ACCEPTED
        }

    def listed(self) -> list[Listed]:
        return [
            Listed(chunk, self._items[chunk.key].reason)
            for chunk in self._chunks
            if self._items[chunk.key].state is _State.GIVEN_UP
        ]

    def failed_redos(self) -> list[Listed]:
        """Chunks whose new attempt could not be rendered, so that the old take stays."""
        return [
            Listed(chunk, self._items[chunk.key].reason)
            for chunk in self._chunks
            if self._items[chunk.key].state is _State.ACCEPTED and self._items[chunk.key].reason
        ]

    def forget_chunks(self) -> None:
        """Keep only what a report asks for; called when nothing is open. Many books wait to be stitched at once."""
        self._accepted = self.accepted()
        named = {listed.chunk.key for listed in (*self.listed(), *self.failed_redos())}
        self._chunks = [chunk for chunk in self._chunks if chunk.key in named]
        self._items = {key: self._items[key] for key in named}
        self._histories = {}

    def _ask(self, key: str) -> Request:
        item = self._items[key]
        item.state = _State.IN_FLIGHT
        self._num_in_flight += 1
        return Request(
            key=key,
            text=item.chunk.prepared,
            attempt=item.attempt,
            seed=take_seed(key, item.attempt),
            budget=self._frontend.budget(item.chunk.prepared),
            sampling=self._rules.sampling,
            voice=self._rules.voice,
            wants_trace=self._rules.wants_trace,
        )

    def _note(self, item: _Item, outcome: Take | Failed) -> None:
        item.history.append(as_outcome(outcome))
        self._move(item)

    def _add(self, item: _Item) -> None:
        self._items[item.chunk.key] = item
        self._move(item)

    def _move(self, item: _Item) -> None:
        key = item.chunk.key
        match next_move(item.history, self._rules.attempts):
            case Accept(attempt):
                item.state, item.attempt = _State.ACCEPTED, attempt
            case Retry(attempt):
                item.state, item.attempt = _State.QUEUED, attempt
                # A second attempt goes first, so that its chapter isn't held up.
                (self._queue.appendleft if item.history else self._queue.append)(key)
            case RunAlone(attempt):
                item.state, item.attempt = _State.QUEUED, attempt
                self._suspects.append(key)
            case Split(attempt):
                item.attempt = attempt
                self._split(item)
                return
            case GiveUp(reason):
                self._give_up(item, reason)
        if item.is_resolved:
            self._resolve(item)

    def _split(self, item: _Item) -> None:
        chunk = item.chunk
        halves = halve(chunk.text, self._language) if item.depth < self._rules.max_splits else None
        if halves is None:
            refused = next(o.message for o in reversed(item.history) if o.kind == "refused")
            self._give_up(item, f"{refused}, in its part {chunk.text[:60]!r}" if item.parent else refused)
            self._resolve(item)
            return
        item.state, item.inner_ends = _State.SPLIT, halves[2]
        parts = []
        for number, (text, ends) in enumerate(((halves[0], halves[2]), (halves[1], chunk.ends))):
            prepared = self._frontend.prepare(text, ends)
            part = replace(
                chunk,
                key=part_key(chunk.key, item.attempt, number, prepared),
                text=text,
                prepared=prepared,
                num_tokens=self._frontend.num_tokens(prepared),
                ends=ends,
            )
            parts.append(_Item(part, list(self._histories.get(part.key, [])), item.depth + 1, chunk.key))
        item.parts = tuple(half.chunk.key for half in parts)
        self._items |= {half.chunk.key: half for half in parts}
        for half in parts:
            self._move(half)

    def _give_up(self, item: _Item, reason: str) -> None:
        """List a chunk; but where a `redo` failed, the take that stood before it stands again."""
        item.reason = reason
        accepted = [outcome.attempt for outcome in item.history if outcome.kind == "accepted"]
        if accepted:
            item.state, item.attempt = _State.ACCEPTED, accepted[-1]
        else:
            item.state = _State.GIVEN_UP

    def _resolve(self, item: _Item) -> None:
        """Tell whoever waits for a chunk: its parent, or its chapter."""
        if item.parent:
            parent = self._items[item.parent]
            parts = [self._items[key] for key in parent.parts]
            lost = next((part for part in parts if part.state is _State.GIVEN_UP), None)
            if parent.state is not _State.SPLIT or not all(part.is_resolved for part in parts):
                return
            if lost:
                self._give_up(parent, lost.reason)  # with the text of the smallest part that would not render
                self._resolve(parent)
            else:
                done = tuple((part.chunk.key, part.attempt) for part in parts)
                self._composites.append(Composite(item.parent, parent.attempt, done, parent.inner_ends))
            return
        self._num_resolved += 1
        chapter = item.chunk.chapter
        self._first.discard(item.chunk.key)
        self._left_in_chapter[chapter] -= 1
        if not self._left_in_chapter[chapter]:
            self._finished.append(chapter)


def longest_first(chunks: Sequence[Chunk], within: int) -> list[Chunk]:
    """Chunks in the order in which they are asked for: longest first within as many chapters as hold `within` chunks.

    Rows of a batch are then of like length, and the last to end are short ones: slots stay full. Chapters are still
    finished roughly in order, since a window is asked for before the next.
    """
    if not within:
        return list(chunks)
    windows: list[list[Chunk]] = [[]]
    for chunk in chunks:
        if len(windows[-1]) >= within and windows[-1] and windows[-1][-1].chapter != chunk.chapter:
            windows.append([])
        windows[-1].append(chunk)
    return [chunk for window in windows for chunk in sorted(window, key=lambda chunk: -chunk.num_tokens)]


def take_seed(key: str, attempt: int) -> int:
    """The seed of one attempt at a chunk: 63 bits of a hash, the same on every machine."""
    return int.from_bytes(hashlib.sha256(f"{key}/{attempt}".encode()).digest()[:8], "big") >> 1


def as_outcome(outcome: Take | Failed) -> Outcome:
    """What the ledger remembers of an outcome, for `next_move`."""
    if isinstance(outcome, Failed):
        return Outcome(outcome.attempt, outcome.kind, outcome.alone, outcome.message)
    return Outcome(outcome.attempt, "refused" if outcome.is_refused else "accepted", False, outcome.refusal)
