"""Bad input gets a sentence with a remedy and an exit code; nothing is written. And `--help` answers at once."""

from __future__ import annotations

import json
import os
import re
import resource
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest

from pipeline import errors
from tests.conftest import ROOT, render_book_command, write_voice
from tests.manuscript.build import epub, page


def everything_in(folder: Path) -> dict[str, int]:
    return {str(path.relative_to(folder)): path.stat().st_mtime_ns for path in folder.rglob("*")}


def make_folder(folder: Path) -> str:
    (folder / "a-folder").mkdir()
    return "a-folder"


def make_text_epub(folder: Path) -> str:
    (folder / "text.epub").write_text("Not an EPUB.")
    return "text.epub"


def make_empty(folder: Path) -> str:
    (folder / "empty.txt").touch()
    return "empty.txt"


def make_protected(folder: Path) -> str:
    with zipfile.ZipFile(folder / "protected.epub", "w") as book:
        book.writestr("mimetype", "application/epub+zip")
        book.writestr("META-INF/container.xml", "<container/>")
        book.writestr("META-INF/rights.xml", '<rights xmlns="http://ns.adobe.com/adept"><licenseToken/></rights>')
        book.writestr(
            "META-INF/encryption.xml",
            '<encryption xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><EncryptedData '
            'xmlns="http://www.w3.org/2001/04/xmlenc#"><EncryptionMethod '
            'Algorithm="http://www.w3.org/2001/04/xmlenc#aes128-cbc"/><CipherData>'
            '<CipherReference URI="a.xhtml"/></CipherData></EncryptedData></encryption>',
        )
    return "protected.epub"


def make_bomb(folder: Path) -> str:
    epub(folder, {"a.xhtml": page("<p>" + "0" * 90_000_000 + "</p>")}).rename(folder / "bomb.epub")
    return "bomb.epub"


def make_missing(folder: Path) -> str:
    return "missing.epub"


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (make_missing, r"missing\.epub"),
        (make_folder, r"a-folder"),
        (make_text_epub, r"text\.epub"),
        (make_empty, r"empty\.txt"),
        (make_protected, r"protected\.epub.*(DRM|protect)"),
        (make_bomb, r"bomb\.epub"),
    ],
)
def test_a_manuscript_that_cannot_be_read(command, tmp_path, make, says):
    name = make(tmp_path)
    before = everything_in(tmp_path)
    ran = command(name, "--voice", "tone")
    assert ran.code == 3, ran.err
    assert re.search(says, ran.err)
    assert_one_sentence(ran.err)
    assert everything_in(tmp_path) == before, "nothing is written"


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["--voice", "jo"], 5, r"'jo'.*did you mean joe"),
        (["--voice", "nowhere.yaml"], 5, r"nowhere\.yaml"),
        ([], 5, r"alba needs.*--voice joe"),
        (["--voice", "tone", "--chapters", "9"], 2, r"chapter 9.*1 to 2"),
        (["--voice", "tone", "--chapters", "2-1"], 2, r"2-1"),
        (["--voice", "tone", "--chapters", "one"], 2, r"'one'.*1-3,7"),
        (["--voice", "tone", "--format", "mp3"], 2, r"'mp3'.*m4b, flac"),
        (["--voice", "tone", "--format", ","], 2, r"names no format"),
        (["--voice", "tone", "--config", "bad.yaml"], 4, r"bad\.yaml:2: gaps_ms\.claus: unknown key.*clause"),
        (["--voice", "tone", "--config", "worse.yaml"], 4, r"worse\.yaml:2: render\.attempts: .*'many'"),
        (["--voice", "tone", "--config", "none.yaml"], 4, r"none\.yaml"),
        (["--voice", "tone", "--config", "broken.yaml"], 4, r"broken\.yaml:3"),
        (["--voice", "tone", "--lexicon", "list.yaml"], 4, r"list\.yaml"),
        (["--voice", "unlicensed.yaml"], 4, r"licence"),
        (["--voice", "tone", "--config", "engine.yaml"], 4, r"engine\.yaml:2: engines\.pipre: unknown key.*piper"),
        (["--voice", "tone", "--config", "inf.yaml"], 4, r"inf\.yaml:2: master\.peak_dbfs: .*finite"),
        (["--voice", "tone", "--config", "loop.yaml"], 4, r"loop\.yaml:1: an alias \(\*a\) isn.t read"),
        (["--voice", "tone", "--config", "mp3.yaml"], 4, r"mp3\.yaml:2: deliver\.formats\[0\]: .*'m4b' or 'flac'"),
        (["--voice", "tone", "--config", "slow.yaml"], 4, r"slow\.yaml:1: engines\.piper\.length_scale: .*0\.3"),
        (["--voice", "tone", "--config", "long.yaml"], 4, r"long\.yaml:2: gaps_ms\.chapter: .*60000"),
        (["--voice", "tone", "--output", "small.txt"], 2, r"small\.txt is a file"),
        (["--voice", "tone", "--workers", "0"], 2, r"workers"),
        (["--voise", "tone"], 2, r"--voise"),
    ],
)
def test_bad_words(command, small_book, tmp_path, words, code, says):
    (tmp_path / "bad.yaml").write_text("gaps_ms:\n  claus: 3\n")
    (tmp_path / "worse.yaml").write_text("render:\n  attempts: many\n")
    (tmp_path / "broken.yaml").write_text("render:\n attempts: [\n")
    (tmp_path / "engine.yaml").write_text("engines:\n  pipre: {noise_scale: 1}\n")
    (tmp_path / "inf.yaml").write_text("master:\n  peak_dbfs: -inf\n")
    (tmp_path / "loop.yaml").write_text("a: &a [*a]\n")
    (tmp_path / "long.yaml").write_text("gaps_ms:\n  chapter: 99999999999\n")
    (tmp_path / "mp3.yaml").write_text("deliver:\n  formats: [mp3]\n")
    (tmp_path / "slow.yaml").write_text("engines: {piper: {length_scale: 0}}\n")
    (tmp_path / "list.yaml").write_text("- a\n- b\n")
    (tmp_path / "unlicensed.yaml").write_text("engine: tone\nlanguage: en\nlicence: ''\n")
    before = everything_in(tmp_path)
    ran = command(small_book, *words)
    assert ran.code == code, ran.err
    assert re.search(says, ran.err), ran.err
    assert everything_in(tmp_path) == before, "nothing is written"


def test_all_faults_of_a_profile_at_once(command, small_book, tmp_path):
    (tmp_path / "bad.yaml").write_text("gaps_ms:\n  claus: 3\n  scene: -1\nrendr: {}\n")
    ran = command(small_book, "--voice", "tone", "--config", "bad.yaml")
    assert [line.split(" ")[0] for line in sorted(ran.err.splitlines())] == [
        "bad.yaml:2:", "bad.yaml:3:", "bad.yaml:4:",
    ]  # fmt: skip


def test_an_output_folder_that_another_run_holds(command, small_book, tmp_path):
    voice = write_voice(tmp_path, "{match: Chapter one, do: hang}")
    held = subprocess.Popen(
        [sys.executable, "-m", "pipeline.cli", small_book, "--voice", voice], cwd=tmp_path, stderr=subprocess.DEVNULL
    )
    try:
        wait_for(tmp_path / "output" / "small" / "script.json")
        before = wait_until_still(tmp_path)
        ran = command(small_book, "--voice", "tone")
        assert ran.code == 2
        assert re.search(rf"small is being rendered into by process {held.pid} .*--output", ran.err)
        assert everything_in(tmp_path) == before
    finally:
        held.kill()
        held.wait()
    assert command(small_book, "--voice", "tone").code == 0, "a dead holder holds nothing"


def test_an_output_folder_of_another_book(command, small_book, tmp_path):
    command(small_book, "--voice", "tone", "--output", "out")
    other = tmp_path / "other.txt"
    other.write_text("Another book entirely. It has two sentences.")
    ran = command(other, "--voice", "tone", "--output", "out")
    assert ran.code == 2
    assert "holds another book, 'small'" in ran.err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_commits_and_says_how_to_go_on(command, small_book, tmp_path, number):
    slow = tmp_path / "slow.yaml"
    slow.write_text("engine: tone\nlanguage: en\nlicence: CC0-1.0\noptions: {seconds_per_take: 0.4}\n")
    running = subprocess.Popen(
        [sys.executable, "-m", "pipeline.cli", small_book, "--voice", slow],
        cwd=tmp_path, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    folder = tmp_path / "output" / "small"
    wait_for(folder / "takes")
    running.send_signal(number)
    _, err = running.communicate(timeout=20)
    assert running.returncode == 130
    assert re.search(r"Interrupted with \d of 7 chunks left.*the same command again to go on", err)
    assert "Traceback" not in err
    num_kept = len([*(folder / "takes").rglob("*.flac")])
    assert num_kept >= 1
    ran = command(small_book, "--voice", slow)
    assert ran.code == 0
    assert json.loads((folder / "report.json").read_text())["num_reused"] == num_kept


def test_a_full_disk_is_said_in_a_sentence_and_the_run_goes_on_later(command, small_book, tmp_path):
    """A limit on file size stands for the disk: the kernel refuses the write in the same place."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, 60_000))

    ran = subprocess.run(
        [sys.executable, "-m", "pipeline.cli", small_book, "--voice", "tone"],
        cwd=tmp_path, capture_output=True, text=True, check=False, preexec_fn=limit,
    )  # fmt: skip
    assert ran.returncode == 2
    assert "can't be written" in ran.stderr
    assert "Traceback" not in ran.stderr
    again = command(small_book, "--voice", "tone")
    assert again.code == 0
    assert "already there" in again.out


def test_a_damaged_ledger_is_said_in_a_sentence(command, small_book, tmp_path):
    command(small_book, "--voice", "tone")
    ledger = tmp_path / "output" / "small" / "ledger.sqlite"
    ledger.write_bytes(b"not a database, however long it may be" * 100)
    ran = command(small_book, "--voice", "tone")
    assert ran.code == 2
    assert "move it away" in ran.err


def wait_for(path: Path, timeout_s: float = 20) -> None:
    until = time.monotonic() + timeout_s
    while not path.exists():
        assert time.monotonic() < until, f"{path} never came"
        time.sleep(0.02)


def wait_until_still(folder: Path) -> dict[str, int]:
    """What is in a folder once nothing has changed in it for a second."""
    now, before = everything_in(folder), {}
    while now != before:
        time.sleep(1)
        now, before = everything_in(folder), now
    return now


def assert_one_sentence(message: str) -> None:
    assert message.endswith("\n")
    assert message.count("\n") == 1
    assert message.rstrip().endswith(".")


def test_results_go_to_stdout_and_messages_to_stderr(command, small_book):
    ran = command(small_book, "--voice", "tone")
    assert ran.out.startswith("output/small/small.m4b\n")
    assert "chapter" in ran.err


def test_voices_are_listed_with_their_licence(command):
    lines = command("voices").out.splitlines()
    assert any(re.match(r"alba +pocket +en +CC-BY-4\.0$", line) for line in lines)
    assert any(re.match(r"cosette .*CC-BY-NC-4\.0  not for sale", line) for line in lines)
    assert len(lines) == len([*(ROOT / "voices").glob("*.yaml")])


def test_a_manifest_is_refused_for_now(command, tmp_path):
    (tmp_path / "job.yaml").write_text("books: []\n")
    assert command("job.yaml").code == 4


def test_status_of_a_folder_without_a_book(command, tmp_path):
    ran = command("status", tmp_path)
    assert (ran.code, ran.err.count("\n")) == (2, 1)


def test_help_lists_every_exit_code_and_command():
    ran = render_book_command("--help", cwd=ROOT)
    codes = {
        value.exit_code
        for value in vars(errors).values()
        if isinstance(value, type) and issubclass(value, errors.RenderBookError)
    } - {errors.RenderBookError.exit_code}
    assert codes == {2, 3, 4, 5, 6, 7, 130}
    listed = {int(match) for match in re.findall(r"^ +(\d+)  \w", ran.out, re.MULTILINE)}
    assert listed == codes | {0}
    for name in ("plan", "status", "redo", "voices"):
        assert f"render-book {name}" in ran.out


def test_help_answers_in_half_a_second():
    """Best of five, in CPU seconds of the child, so that a busy machine doesn't fail it."""
    best = 9.0
    for _ in range(5):
        before = os.times()
        render_book_command("--help", cwd=ROOT)
        after = os.times()
        best = min(best, after.children_user + after.children_system - before.children_user - before.children_system)
    assert best < 0.5


def test_a_mistyped_command_or_a_missing_book_is_named_before_the_voice(command):
    assert "did you mean status?" in command("stauts").err
    ran = command("nosuch.epub")
    assert (ran.code, "nosuch.epub doesn't exist" in ran.err) == (3, True)
    assert command("help").out == command("--help").out


def test_a_file_name_that_is_no_text(tmp_path):
    name = os.fsencode(tmp_path) + b"/bad\xff.txt"
    Path(os.fsdecode(name)).write_text("This is a book of one sentence.")
    ran = render_book_command(os.fsdecode(name), "--voice", "tone", cwd=tmp_path)
    assert ran.code == 0, ran.err
    [folder] = (tmp_path / "output").iterdir()
    assert render_book_command("redo", folder, cwd=tmp_path).code == 0


def test_output_that_cannot_be_written(small_book, tmp_path):
    with Path("/dev/full").open("w") as full:
        words = [sys.executable, "-m", "pipeline.cli", "plan", small_book, "--voice", "tone"]
        ran = subprocess.run(words, cwd=tmp_path, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (ran.returncode, "No space left" in ran.stderr, "Traceback" in ran.stderr) == (2, True, False)


def test_files_of_others_are_not_written_over(command, small_book, tmp_path):
    (tmp_path / "out" / "chapters").mkdir(parents=True)
    ran = command(small_book, "--voice", "tone", "--output", "out")
    assert (ran.code, "isn't from render-book" in ran.err) == (2, True)


@pytest.mark.parametrize(
    ("text", "code", "says"),
    [
        ("engine: tune\nlanguage: en\nlicence: CC0-1.0\n", 4, r"no engine 'tune' \(did you mean tone\?\)"),
        ("engine: piper\nlanguage: en\nlicence: CC0-1.0\noptions: {fiel: x}\n", 4, r"options\.file.*required"),
        ("engine: tone\nlanguage: en\nlicence: CC0-1.0\nlicense: x\n", 4, r"v\.yaml:4: license: unknown key"),
    ],
)
def test_a_voice_file_with_a_mistake(command, small_book, tmp_path, text, code, says):
    (tmp_path / "v.yaml").write_text(text)
    ran = command(small_book, "--voice", "v.yaml")
    assert ran.code == code
    assert re.search(says, ran.err), ran.err
