"""A job of three books on a cluster of two machines, while actors, processes, machines and the driver die."""

from __future__ import annotations

import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.render.test_cluster import all_digests, reports, write_books, write_manifest, write_tone

pytestmark = pytest.mark.ray

SLOTS, AHEAD = 4, 3
IN_FLIGHT = SLOTS + AHEAD
"""Of one replica."""


def children(process: int) -> list[int]:
    """Of all its threads."""
    return [int(pid) for task in Path(f"/proc/{process}/task").glob("*/children") for pid in task.read_text().split()]


class Stage:
    """The cluster (a head without cores, and machines that carry one replica each), a job, and its driver."""

    def __init__(self, cluster: Any, folder: Path) -> None:
        self.cluster = cluster
        self.nodes: list[Any] = []
        self.folder = folder
        self.driver: subprocess.Popen[str] | None = None

    def start(self) -> None:
        while len(self.nodes) < 2:
            self.add_node()
        while len(self.nodes) > 2:
            self.remove_node()
        shutil.rmtree(self.folder / "out", ignore_errors=True)
        self.start_driver()

    def start_driver(self) -> None:
        self.driver = subprocess.Popen(
            [sys.executable, "-m", "pipeline.cli", "job.yaml", "--ray", self.cluster.address],
            cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip

    def wait_for_takes(self, number: int) -> None:
        end = time.monotonic() + 90
        while time.monotonic() < end:
            if len([*(self.folder / "out").glob("*/takes/*/[0-9a-f]*.flac")]) >= number:
                return
            assert self.driver.poll() is None, self.driver.communicate()
            time.sleep(0.02)
        self.driver.kill()
        raise AssertionError(f"no {number} takes in 90 s: {self.driver.communicate()}")

    def finish(self) -> str:
        out, err = self.driver.communicate(timeout=120)
        assert self.driver.returncode == 0, err
        return out + err

    def workers(self) -> list[int]:
        """The processes of this cluster's replicas: another test's, or another user's, aren't ours to kill."""
        raylets = children(os.getpid())
        processes = [process for raylet in raylets for process in children(raylet)]
        titles = [(process, Path(f"/proc/{process}/cmdline").read_bytes()) for process in processes]
        return [process for process, title in titles if title.startswith(b"ray::_ReplicaActor")]

    def kill_actor(self) -> None:
        """As Ray does where it ends one itself, and a machine that shuts down."""
        os.kill(self.workers()[0], signal.SIGTERM)

    def kill_worker(self) -> None:
        os.kill(self.workers()[0], signal.SIGKILL)

    def remove_node(self) -> None:
        self.cluster.remove_node(self.nodes.pop(), allow_graceful=False)

    def add_node(self) -> None:
        self.nodes.append(self.cluster.add_node(num_cpus=1))

    def kill_driver(self) -> None:
        self.driver.kill()
        self.driver.communicate()
        self.start_driver()


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, dict[str, str]]]:
    """A job's folder, and the chapters it makes undisturbed, by one worker in one process."""
    folder = tmp_path_factory.mktemp("job")
    voice = write_tone(folder, slots=SLOTS, seconds_per_take=0.3)
    sources = write_books(folder, 3, 36)
    write_manifest(folder / "job.yaml", sources, output="out", defaults=f"{{voice: {voice}, formats: flac}}")
    words = [sys.executable, "-m", "pipeline.cli", "job.yaml", "--workers", "1"]
    subprocess.run(words, cwd=folder, check=True, capture_output=True)
    whole = all_digests(folder / "out")
    shutil.rmtree(folder / "out")
    return folder, whole


@pytest.fixture(scope="module")
def cluster(job: tuple[Path, dict[str, dict[str, str]]]) -> Iterator[Stage]:
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0})
    yield Stage(cluster, job[0])
    cluster.shutdown()


@pytest.fixture
def stage(cluster: Stage) -> Iterator[Stage]:
    yield cluster
    if cluster.driver is not None:
        cluster.driver.kill()
        cluster.driver.communicate()


DISTURBANCES = [
    (Stage.kill_actor, IN_FLIGHT),
    (Stage.kill_worker, IN_FLIGHT),
    (Stage.remove_node, IN_FLIGHT),
    (Stage.add_node, 0),
    (Stage.kill_driver, 2 * IN_FLIGHT),
]


def check(stage: Stage, whole: dict[str, dict[str, str]], most_again: int) -> None:
    """Every book is complete, and the same bytes as undisturbed; no chunk was listed, or rendered again unless lost."""
    assert all_digests(stage.folder / "out") == whole
    assert not [*(stage.folder / "out").rglob("*.part")]
    rows = []
    for ledger in (stage.folder / "out").glob("*/ledger.sqlite"):
        with sqlite3.connect(ledger) as db:
            rows += db.execute("SELECT ?, key, kind FROM outcomes", [str(ledger)]).fetchall()
    accepted = [(ledger, key) for ledger, key, kind in rows if kind == "accepted"]
    assert len(accepted) == len(set(accepted)), "an accepted take is never rendered twice"
    lost = [kind for _, _, kind in rows if kind in ("crash", "lost")]
    assert len(lost) <= most_again
    found = reports(stage.folder / "out")
    assert all(book["missing"] == [] for book in found.values())
    assert len(found) == 3


@pytest.mark.parametrize(("disturb", "most_again"), DISTURBANCES, ids=lambda one: getattr(one, "__name__", ""))
def test_one_disturbance(stage, job, disturb: Callable[[Stage], None], most_again: int):
    stage.start()
    stage.wait_for_takes(20)
    disturb(stage)
    said = stage.finish()
    check(stage, job[1], most_again)
    num_again = sum(book["num_again"] for book in reports(stage.folder / "out").values())
    assert num_again <= most_again
    if most_again:
        assert num_again > 0, said
        assert "lost and done again" in said


def test_all_disturbances_in_a_row(stage, job):
    stage.start()
    for number, (disturb, _) in enumerate(DISTURBANCES):
        stage.wait_for_takes(12 + 16 * number)
        disturb(stage)
    stage.finish()
    check(stage, job[1], sum(most for _, most in DISTURBANCES))


def test_a_cluster_that_comes_late_is_waited_for_with_a_message(stage, job):
    while stage.nodes:
        stage.remove_node()
    shutil.rmtree(stage.folder / "out", ignore_errors=True)
    stage.start_driver()
    # As many as there were machines that the cluster hadn't missed yet.
    assert any(re.search(r"Waiting for \d workers? to start", line) for line in stage.driver.stderr)
    stage.add_node()
    stage.finish()
    check(stage, job[1], 0)
