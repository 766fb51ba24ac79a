"""How many replicas each engine of a job has, and what each may use of its machine."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from pipeline.engines import registry
from pipeline.engines.base import num_cores, num_gpus, num_sharing
from pipeline.job import Job
from pipeline.profile import EngineProfile

CHUNKS_A_REPLICA = 100
"""What a further replica must have to do: starting Ray and loading a model again takes as long as rendering these."""


@dataclass(frozen=True, slots=True)
class Share:
    """`replicas` None: as many as the cluster carries. num_cpus, num_gpus: of a machine, for each, in Ray's units."""

    replicas: int | None
    num_threads: int
    num_cpus: float
    num_gpus: float


@dataclass(frozen=True, slots=True)
class Staff:
    """Shares by engine. `address` is of a Ray cluster to join, empty for this machine alone."""

    shares: Mapping[str, Share]
    address: str = ""

    @property
    def num_gpus(self) -> int:
        """Devices that all replicas need together, on this machine."""
        shares = [share for share in self.shares.values() if share.num_gpus]
        return sum(
            math.ceil((share.replicas or 0) / num_sharing(1, share.num_gpus))
            if share.num_gpus < 1
            else math.ceil((share.replicas or 0) * share.num_gpus)
            for share in shares
        )

    @property
    def needs_ray(self) -> bool:
        is_local = not self.address and all(share.replicas == 1 for share in self.shares.values())
        return not is_local or any(registry.packages_of(engine) for engine in self.shares)


def choose_staff(job: Job, engines: Mapping[str, EngineProfile], num_chunks: float = math.inf) -> Staff:
    """The staff for a job with these engines; `num_chunks` is what there is to render, where that is known."""
    return Staff({name: _share(job, name, engine, num_chunks) for name, engine in engines.items()}, job.ray)


def _share(job: Job, name: str, engine: EngineProfile, num_chunks: float) -> Share:
    workers = job.workers_of(name)
    gpus = num_gpus() if engine.wants_gpu() else 0
    num_gpus_each = workers.num_gpus if workers.num_gpus is not None else float(bool(gpus) and not job.ray)
    if job.ray:
        num_cpus = workers.num_cpus or float(engine.cores)
        return Share(workers.replicas, max(1, int(num_cpus)), num_cpus, num_gpus_each)
    if workers.replicas is None:
        num_cpus = workers.num_cpus or engine.cores
        carried = num_sharing(gpus, num_gpus_each) if num_gpus_each else num_cores() / num_cpus
        replicas = max(1, int(min(carried, num_chunks / CHUNKS_A_REPLICA)))
    else:
        replicas = workers.replicas
    num_threads = int(workers.num_cpus or 0) or max(1, num_cores() // replicas)
    return Share(replicas, num_threads, workers.num_cpus or 1, num_gpus_each)
