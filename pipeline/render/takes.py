"""What the render room hands around: judged takes, and the history of a chunk."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pipeline.engines.base import EosTrace, FailureKind, Stop

Grade = Literal["note", "refuse"]


@dataclass(frozen=True, slots=True)
class Finding:
    """A judge's word on a take. `id` is stable, such as `a-003`; `says` is a short sentence with its figures."""

    id: str
    says: str
    grade: Grade


@dataclass(frozen=True, slots=True)
class Level:
    """How loud a take is, and where its speech lies: dBFS, and milliseconds of silence at either end."""

    rms_dbfs: float
    peak_dbfs: float
    lead_ms: int
    trail_ms: int


@dataclass(frozen=True, slots=True)
class Take:
    """A judged, encoded take. `flac` is the whole file; refused takes carry no bytes, and no trace."""

    key: str
    attempt: int
    stop: Stop
    num_frames: int
    num_samples: int
    sample_rate: int
    level: Level
    findings: tuple[Finding, ...]
    flac: bytes
    trace: EosTrace | None = None

    @property
    def is_refused(self) -> bool:
        return any(finding.grade == "refuse" for finding in self.findings)

    @property
    def refusal(self) -> str:
        """What the judge refused it for; empty for an accepted take."""
        return "; ".join(finding.says for finding in self.findings if finding.grade == "refuse")


@dataclass(frozen=True, slots=True)
class Outcome:
    """A row of the ledger: what came of one attempt at a chunk, or a user's wish (`redo`) for another."""

    attempt: int
    kind: Literal["accepted", "refused", "redo"] | FailureKind
    alone: bool = False
    message: str = ""
