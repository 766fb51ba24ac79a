"""docs/cluster.md: its steps are run, on one machine that is two, and its files are what Ray takes them for."""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
import pytest
import yaml

from pipeline import __version__, cli
from pipeline.errors import OutputError
from pipeline.folder import read_status
from pipeline.manifest import EngineWorkers, read_manifest
from pipeline.profile import read_profile
from tests.conftest import ROOT, write_voice

pytestmark = [pytest.mark.ray, pytest.mark.skipif(not Path("/proc").is_dir(), reason="looks into /proc")]

PAGE = (ROOT / "docs" / "cluster.md").read_text(encoding="utf-8")
STEPS = PAGE[PAGE.index("## Step by step") : PAGE.index("## How many replicas")]
LAUNCHER = (ROOT / "configs" / "cluster.yaml").read_text(encoding="utf-8")
MANIFEST = (ROOT / "jobs" / "cluster.yaml").read_text(encoding="utf-8")

SLOW = "source: ../books/slow.txt, voice: ../faulty.yaml"


def fences(text: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


def commands(text: str) -> list[str]:
    """Those of all shell fences, in order; a line that ends with a backslash goes on."""
    lines = "".join(fences(text, "sh")).replace("\\\n", " ").splitlines()
    return [line for line in lines if line]


class Stage:
    """A shell in a folder with books, whose Ray has ports, folders and a token of its own. What it starts, it ends."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.folder = root / "work"
        self.output = root / "audiobooks"
        for folder in (self.folder / "jobs", self.folder / "books", root / "home"):
            folder.mkdir(parents=True)
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith("RAY_")} | {
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "HOME": str(root / "home"),
            "RAY_TMPDIR": str(root),
            "RAY_USAGE_STATS_ENABLED": "0",
        }
        self.all_beside: list[subprocess.Popen[str]] = []
        self.ports = {name: free_port() for name in ("6379", "8265", "10001")}
        self.shell = subprocess.Popen(
            ["bash"], cwd=self.folder, env=self.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip

    def elsewhere(self, text: str) -> str:
        """The page's commands and files, kept clear of other clusters and of the system's folders."""
        from ray.util import get_node_ip_address

        text = text.replace("10.0.0.5", get_node_ip_address()).replace("/srv/audiobooks", str(self.output))
        text = re.sub("6379|8265", lambda port: str(self.ports[port[0]]), text)
        text = text.replace("ray start", "ray start --dashboard-agent-listen-port=0")
        text = re.sub("(ray start.*) --head", rf"\1 --ray-client-server-port={self.ports['10001']} --head", text)
        return re.sub("(ray start.*) --address", rf"\1 --temp-dir={self.root}/2 --address", text)

    def run(self, command: str, code: int = 0) -> str:
        """What a command says, once it has ended as expected; what it exports stays."""
        assert self.shell.stdin is not None
        assert self.shell.stdout is not None
        self.shell.stdin.write(f"{{ {self.elsewhere(command)}\n}} < /dev/null; echo END $?\n")
        self.shell.stdin.flush()
        said: list[str] = []
        too_long = threading.Timer(120, self.kill)
        too_long.start()
        try:
            for line in self.shell.stdout:
                if match := re.search(r"END (\d+)$", line):
                    assert int(match[1]) == code, "".join(said)
                    return "".join(said)
                said.append(line)
        finally:
            too_long.cancel()
        raise AssertionError("".join(said))

    def beside(self, command: str, **environment: str) -> subprocess.Popen[str]:
        """A command that runs on beside the shell, in what the shell was given, and in this."""
        process = subprocess.Popen(
            shlex.split(self.elsewhere(command)), cwd=self.folder, env=self.environment | environment,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip
        self.all_beside.append(process)
        return process

    def end(self) -> None:
        assert self.shell.stdin is not None
        assert self.shell.stdout is not None
        self.shell.stdin.close()
        self.shell.stdout.close()
        deadline = time.monotonic() + 30
        while self.kill():
            assert time.monotonic() < deadline
            time.sleep(0.2)
        for process in self.all_beside:
            process.communicate()
        self.shell.wait()

    def kill(self) -> int:
        """Kill all that have our folder in their environment or command line; how many there were."""
        found = 0
        for entry in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                told = (entry / "environ").read_bytes() + (entry / "cmdline").read_bytes()
                if str(self.root).encode() in told:
                    os.kill(int(entry.name), signal.SIGKILL)
                    found += 1
        return found


def free_port() -> int:
    """Not one of those that Ray keeps for its workers."""
    while True:
        with socket.create_server(("", 0)) as server:
            port = int(server.getsockname()[1])
        if not 10_000 <= port < 20_000:
            return port


@pytest.fixture
def stage() -> Iterator[Stage]:
    """Not in `tmp_path`, which is too long for Ray's sockets."""
    stage = Stage(Path(tempfile.mkdtemp(prefix="t", dir="/tmp")))
    try:
        yield stage
    finally:
        stage.end()
        shutil.rmtree(stage.root)


def write_job(stage: Stage, more: str = "") -> None:
    """jobs/cluster.yaml as it is shipped, but for the voice, and with another book."""
    text = MANIFEST.replace("alba", "tone").replace("pocket:", "tone:").replace(".epub", ".txt")
    text = text.replace("workers:", f"  - {{{more}}}\nworkers:" if more else "workers:")
    (stage.folder / "jobs" / "cluster.yaml").write_text(stage.elsewhere(text))


def wait_until(is_so: Callable[[], bool], timeout_s: float = 60) -> None:
    deadline = time.monotonic() + timeout_s
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_the_steps(stage):
    """All commands, in their order, nothing left out; between them, what the page says of them."""
    for name in ("one", "two"):
        (stage.folder / "books" / f"{name}.txt").write_text(f"This is book {name}. It is short.")
    told = "".join(f"This is sentence {n} of a long chapter, which is one chunk, and no more.\n\n" for n in range(200))
    slow = f"Chapter 1\n\nThe first.\n\nChapter 2\n\n{told}Chapter 3\n\nThe last.\n"
    (stage.folder / "books" / "slow.txt").write_text(slow)
    voice = write_voice(stage.folder)
    voice.write_text(voice.read_text() + "  seconds_per_take: 0.8\n")
    write_job(stage)
    steps = iter(commands(STEPS))

    def step(beginning: str) -> str:
        command = next(steps)
        assert command.startswith(beginning)
        return stage.run(command)

    step("export RAY_AUTH_MODE=token")
    step("ray get-auth-token --generate")
    token = stage.root / "home" / ".ray" / "auth_token"
    assert token.stat().st_mode & 0o077, "else the next step says nothing"
    step("chmod 600")
    assert not token.stat().st_mode & 0o077
    step("ray start --head")

    book = "render-book books/one.txt --voice tone --ray 10.0.0.5:6379 --output"
    strangers = [
        stage.beside(f"{book} {stage.root}/no", RAY_AUTH_MODE="token", RAY_AUTH_TOKEN="b" * 64),
        stage.beside(f"{book} {stage.root}/none", HOME=str(stage.root)),
        stage.beside("ray job list --address=http://127.0.0.1:8265"),
    ]
    step("export RAY_API_SERVER_ADDRESS")
    submit = "ray job submit --address=http://127.0.0.1:8265 --working-dir=. -- render-book books/one.txt --voice tone"
    relative = stage.beside(f"{submit} --output audiobooks", RAY_AUTH_MODE="token")
    said = step("ray job submit --submission-id=monday")
    assert "Job 'monday' succeeded" in said
    assert (stage.output / "one" / "one.m4b").is_file()
    assert (stage.output / "two" / "two.m4b").is_file()
    assert (stage.output / "cluster.report.json").is_file()

    refusal, asks_for_token = (stage.elsewhere(quote) for quote in re.findall(r"^> (.*)$", STEPS, re.MULTILINE))
    said, _ = relative.communicate(timeout=60)
    assert (relative.returncode, refusal in said.splitlines()) == (1, True), said
    for stranger in strangers[:2]:
        said, _ = stranger.communicate(timeout=60)
        assert (stranger.returncode, said) == (2, f"{asks_for_token}\n")
    said, _ = strangers[2].communicate(timeout=60)
    assert "Missing authentication token" in said

    step("ray start --address")
    assert "Active" in step("ray status --address")
    write_job(stage, SLOW)
    step("ray job submit --submission-id=tuesday --no-wait")
    folder = stage.output / "slow"

    def has_two_replicas() -> bool:
        with contextlib.suppress(OutputError):
            status = read_status(folder)
            first = status.chapters[0]
            return status.num_replicas == 2 and first.num_done == first.num_chunks
        return False

    wait_until(has_two_replicas)
    said = step("render-book status jobs/cluster.yaml")
    assert "2 of 3 books delivered" in said
    assert "2 workers" in said
    assert "Running entrypoint for job tuesday" in step("ray job logs tuesday")
    assert "Job 'tuesday' was stopped" in step("ray job stop tuesday")
    with contextlib.closing(sqlite3.connect(folder / "ledger.sqlite")) as ledger:
        assert ledger.execute("SELECT COUNT(*) FROM in_flight").fetchone() == (0,), "all that was in flight came back"
    assert 2 < read_status(folder).num_done < 200

    write_job(stage, f'{SLOW}, chapters: "1,3"')
    said = step("render-book jobs/cluster.yaml --ray")
    assert re.search(r"in 2 chapters; \d takes rendered .*; \d of \d chunks already there", said), said
    assert "3 of 3 books delivered" in said
    assert [*folder.glob("*.m4b")]
    assert not list(steps)


def test_all_other_commands_need_more_than_one_machine():
    others = commands(PAGE.replace(STEPS, ""))
    assert others
    for command in others:
        assert command.startswith(("ray up", "ray dashboard", "ray rsync-down", "ray down", "kubectl "))


def test_all_options_and_commands_exist():
    """Of the page and of configs/cluster.yaml; what stands alone may be of either."""
    from ray.scripts.scripts import cli as ray

    ours: dict[str, click.Command] = {"": cli.render, **cli.COMMANDS}
    ours |= {f"voices {name}": command for name, command in cli.voices.commands.items()}
    theirs = {name: command for name, command in ray.commands.items() if not isinstance(command, click.Group)}
    theirs |= {f"job {name}": command for name, command in ray.commands["job"].commands.items()}

    def options(command: click.Command) -> set[str]:
        return {option for parameter in command.params for option in parameter.opts}

    launcher = yaml.safe_load(LAUNCHER)
    texts = [*commands(PAGE), *re.findall(r"`([^`\n]+)`", re.sub("```.*?```", "", PAGE, flags=re.DOTALL))]
    texts += [text for key, values in launcher.items() if key.endswith("_commands") for text in values]
    num_found = 0
    for text in re.split(r"\s&&\s|\s--\s|\n", "\n".join(texts)):
        words = shlex.split(text, comments=True)
        program = Path(words[0]).name if words else ""
        known = options(cli.render) | options(theirs["start"])
        if program in ("ray", "render-book"):
            table = theirs if program == "ray" else ours
            names = [name for name in table if name and words[1 : 1 + len(name.split())] == name.split()]
            assert names or program == "render-book", text
            known = options(table[max(names, key=len, default="")])
        elif not program.startswith("--"):
            continue
        num_found += 1
        assert {word.partition("=")[0] for word in words if word.startswith("--")} <= known, text
    assert num_found > 20


def test_all_keys_exist(tmp_path):
    assert set(re.findall(r"\bnum_\w+", PAGE)) | {"replicas"} == set(EngineWorkers.model_fields)
    assert read_profile(None, {"engines.pocket.slots": "8"}).engines.pocket.slots == 8
    assert "`engines.pocket.slots`" in PAGE
    (tmp_path / "books").mkdir()
    for name in ("one", "two"):
        (tmp_path / "books" / f"{name}.epub").write_bytes(b"PK\x03\x04")
    job = tmp_path / "jobs" / "cluster.yaml"
    job.parent.mkdir()
    mappings = re.findall(r"(\{(?:replicas|num_\w+): [^}]*\})`", PAGE) + re.findall(r"`(replicas: \w+)`", PAGE)
    assert len(mappings) >= 5
    for mapping in [*mappings, re.search(r"pocket: (\{.*\})", MANIFEST)[1]]:
        job.write_text(re.sub(r"pocket: .*", f"pocket: {{{mapping.strip('{}')}}}", MANIFEST))
        assert read_manifest(job, is_submitted=True).workers["pocket"]


def ray_takes(config: dict[str, Any]) -> dict[str, Any]:
    from ray.autoscaler._private.util import prepare_config, validate_config

    prepared: dict[str, Any] = prepare_config(config)
    validate_config(prepared)
    return prepared


def test_the_launcher_takes_its_file_as_it_is_and_as_changed_for_a_cloud():
    config = yaml.safe_load(LAUNCHER)
    assert ray_takes(config)["available_node_types"]["local.cluster.node"]["min_workers"] == 2
    with pytest.raises(Exception, match="unexpected"):
        ray_takes(config | {"worker_ips": []})
    cloud = yaml.safe_load(next(fence for fence in fences(PAGE, "yaml") if "provider" in fence))
    config["auth"].pop("ssh_private_key")
    workers = ray_takes(config | cloud)["available_node_types"]["worker"]
    assert (workers["min_workers"], workers["max_workers"]) == (0, 8)


def test_kubernetes_gets_a_ray_job_of_the_same_image_everywhere():
    job = yaml.safe_load(next(fence for fence in fences(PAGE, "yaml") if "kind: RayJob" in fence))
    cluster = job["spec"]["rayClusterSpec"]
    groups = [cluster["headGroupSpec"], *cluster["workerGroupSpecs"]]
    images = {container["image"] for group in groups for container in group["template"]["spec"]["containers"]}
    assert images == {f"registry.example.com/render-book:{__version__}"}
    assert job["spec"]["entrypoint"].startswith("render-book /")
    assert yaml.safe_load(job["spec"]["runtimeEnvYAML"]) == {"env_vars": {"RAY_JOB_STOP_WAIT_TIME_S": "300"}}
    assert cluster["rayVersion"] == re.search(r"rayproject/ray:([\d.]+)-", PAGE)[1]


def test_versions_are_those_that_are_tested():
    pins = (ROOT / "constraints.txt").read_text(encoding="utf-8")
    for text in (PAGE, LAUNCHER):
        assert set(re.findall(r"render-book\[cluster\]==([\d.]+)", text)) == {__version__}
        for version in re.findall(r"(?:'ray==|rayproject/ray:|rayVersion: )([\d.]+)", text):
            assert f"\nray=={version}\n" in pins
