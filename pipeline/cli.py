"""The command `render-book`: parse, call one function, print, exit code.

Nothing heavy is imported before a command needs it: `--help` answers at once.
"""

from __future__ import annotations

import contextlib
import difflib
import io
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pipeline import __version__
from pipeline.errors import (
    ConfigError,
    IncompleteError,
    InterruptedByUser,
    RenderBookError,
    UsageError,
)

if TYPE_CHECKING:
    from pipeline.job import Job
    from pipeline.render.loop import Clock
    from pipeline.review.report import Report
    from pipeline.run import Progress

EPILOG = """\b
Commands (each has its own --help):
  render-book BOOK           turn a manuscript into an audiobook; again is the resume
  render-book plan BOOK      what would be read: chapters, words, chunks, hours
  render-book status DIR     how far a book is, also while it renders
  render-book redo DIR       the next attempt of single chunks
  render-book voices         who can read; `voices add`, `voices fetch NAME`

\b
Exit codes:
    0  done
    2  usage, or an output folder that can't be used
    3  the manuscript can't be read
    4  bad manifest, profile, voice file or lexicon
    5  voice or model missing
    6  incomplete: something could not be rendered, and is listed
    7  stopped as asked, with work left
  130  interrupted; what was accepted is on disk
"""

_CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 100}
_BOOK = click.argument("book", metavar="BOOK", type=click.Path(path_type=Path))
_DIR = click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))


def _book_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options that say what is read, shared by `render` and `plan`."""
    path = click.Path(path_type=Path)
    for option in (
        click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Another reading."),
        click.option("--lexicon", type=path, metavar="F", help="How words are said: YAML, `word: respelling`."),
        click.option("--config", type=path, metavar="F", help="A render profile over configs/default.yaml."),
        click.option("--chapters", metavar="LIST", help="Only these, as `plan` numbers them: 1-3,7."),
        click.option("--voice", metavar="V", help="Who reads: a name of `voices`, or a voice file. [alba]"),
        click.option(
            "--frames-after-eos", type=click.IntRange(0, 50), metavar="N", help="Frames (80 ms) kept after it (Pocket)."
        ),
        click.option("--eos-threshold", type=float, metavar="T", help="Lower ends speech earlier (Pocket)."),
        click.option("--dtype", type=click.Choice(["auto", "float32", "bfloat16"]), help="Number format (Pocket)."),
    ):
        command = option(command)
    return command


@click.command("render-book", context_settings=_CONTEXT, epilog=EPILOG)
@_BOOK
@_book_options
@click.option("--output", type=click.Path(path_type=Path), metavar="DIR", help="Folder. [output/<title>]")
@click.option("--format", "formats", metavar="LIST", help="m4b, flac, or both: m4b,flac. [m4b]")
@click.option(
    "--device",
    type=click.Choice(["auto", "cpu", "cuda", "mps"]),
    help="Of the model; cuda and mps have yet to be tried (Pocket).",
)
@click.option("--workers", type=click.IntRange(1, 1024), default=1, show_default=True, help="Models at once.")
@click.version_option(__version__, prog_name="render-book")
def render(book: Path, output: Path | None, formats: str | None, workers: int, **options: Any) -> None:
    """Turn BOOK (.epub, .txt, .md or .html) into a finished audiobook.

    The same command again goes on where the last one stopped. An accepted take is never rendered twice.
    """
    from dataclasses import replace

    from pipeline.run import render_book

    job = replace(
        _job(book, **options),
        output=output,
        formats=tuple(formats.split(",")) if formats is not None else None,
        num_workers=workers,
    )
    with _running() as (clock, bar):
        report = render_book(job, clock, bar.update, _say)
    _finish(report)


@click.command("render-book plan", context_settings=_CONTEXT)
@_BOOK
@_book_options
@click.option("--json", "as_json", is_flag=True, help="The whole script, in the form of docs/plan.md.")
def plan(book: Path, as_json: bool, **options: Any) -> None:
    """Say what of BOOK would be read, and why the rest would not. No model is loaded."""
    import json

    from pipeline.plan import make_plan
    from pipeline.script.listing import script_as_lines

    made = make_plan(_job(book, **options))
    if as_json:
        click.echo(json.dumps(made.as_dict(), ensure_ascii=False, indent=1))
    else:
        for line in script_as_lines(made.book, made.script, made.profile.gaps_ms.after):
            click.echo(line)


@click.command("render-book status", context_settings=_CONTEXT)
@_DIR
@click.option("--json", "as_json", is_flag=True, help="For programs.")
def status(folder: Path, as_json: bool) -> None:
    """Say how far the book in DIR is. Works beside a run."""
    import json
    from dataclasses import asdict

    from pipeline.folder import read_status
    from pipeline.review.report import status_as_lines

    found = read_status(folder)
    if as_json:
        click.echo(json.dumps(asdict(found), ensure_ascii=False, indent=1))
    else:
        for line in status_as_lines(found):
            click.echo(line)


@click.command("render-book redo", context_settings=_CONTEXT)
@_DIR
@click.option("--chunk", "ids", metavar="ID", multiple=True, help="Its id, or the id's beginning; more than once.")
def redo(folder: Path, ids: Sequence[str]) -> None:
    """Render the next attempt of single chunks of the book in DIR, and pack the book again.

    Without --chunk, go on with what an interrupted redo left.
    """
    from pipeline.run import redo_chunks

    with _running() as (clock, bar):
        report = redo_chunks(folder, ids, clock, bar.update, _say)
    _finish(report, f"render-book redo {folder}")


@click.group("render-book voices", context_settings=_CONTEXT, invoke_without_command=True)
@click.pass_context
def voices(context: click.Context) -> None:
    """List the voices: name, engine, language, licence."""
    if context.invoked_subcommand is not None:
        return
    from pipeline.voices import read_voice, voice_names

    for name in voice_names():
        voice = read_voice(name)
        notes = "" if voice.is_for_sale else "  not for sale"
        click.echo(f"{name:<16} {voice.engine:<8} {voice.language:<4} {voice.licence}{notes}")


@voices.command("fetch", context_settings=_CONTEXT)
@click.argument("name", metavar="NAME")
@click.option("--config", type=click.Path(path_type=Path), metavar="F", help="The profile, if it names another model.")
def fetch_voice(name: str, config: Path | None) -> None:
    """Download what the voice NAME needs, so that books can be rendered without a network."""
    from pipeline.engines import registry
    from pipeline.job import read_profile
    from pipeline.plan import choose_voice

    voice = choose_voice(name, read_profile(config))
    registry.open_frontend(voice)
    registry.check_model(voice)
    click.echo(f"The voice {voice.name} has all it needs on this machine.")
    if not voice.is_for_sale:
        click.echo(f"Its licence is {voice.licence}: an audiobook read by it may not be sold.")


@voices.command("add", context_settings=_CONTEXT)
@click.argument("recording", metavar="RECORDING", type=click.Path(path_type=Path))
@click.option("--name", required=True, metavar="N", help="What --voice will call it.")
@click.option("--licence", required=True, metavar="L", help="Under which you may use it, such as CC-BY-4.0 or own.")
@click.option("--credit", default="", metavar="C", help="Whose voice it is.")
@click.option("--language", default="en", show_default=True, metavar="L", help="What it reads, as a language tag.")
@click.option("--model", default="english", show_default=True, metavar="M", help="Pocket TTS model that it is for.")
@click.option("--codec", default="", metavar="C", help="Of a transformers checkpoint: its codec's folder.")
def add_voice(recording: Path, name: str, licence: str, credit: str, language: str, model: str, codec: str) -> None:
    """Make a voice of a RECORDING of a narrator (10 to 30 s, any audio format), which you may use so.

    It is encoded once, by weights with an encoder, and kept with your other voices: --voice N then reads with it.
    """
    from pipeline import voices as kept
    from pipeline.engines.pocket.clone import clone_voice

    kept.check_new_name(name)
    if not licence.strip():
        raise UsageError("--licence must say under which licence you may use this voice.")
    cloned = clone_voice(recording, f"{name}.safetensors", model, codec)
    voice_file = {"engine": "pocket", "language": language, "licence": licence}
    voice_file |= {"credit": credit} if credit else {}
    path = kept.add_voice(name, {**voice_file, "options": cloned.options}, {f"{name}.safetensors": cloned.data})
    click.echo(f"Added the voice {name} from {min(cloned.seconds, 30):.1f} s of {recording}: {path}")
    if cloned.seconds > 30:
        click.echo(f"Only the first 30 of its {cloned.seconds:.0f} s are used.")


COMMANDS = {"plan": plan, "status": status, "redo": redo, "voices": voices}


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit. A first argument that is no subcommand is a book."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    if words[:1] == ["help"]:
        words = ["--help"]
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a file's name may be no text
    command: click.Command = COMMANDS[words.pop(0)] if words and words[0] in COMMANDS else render
    try:
        command.main(words, prog_name=command.name, standalone_mode=False)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except click.Abort:
        sys.exit(InterruptedByUser.exit_code)
    except RenderBookError as error:
        _say(str(error))
        sys.exit(error.exit_code)
    except OSError as error:  # of the output itself: what is written elsewhere has errors of its own
        _say(f"The output can't be written: {error}.")
        sys.exit(UsageError.exit_code)
    sys.exit(0)


_POCKET_FLAGS = ("dtype", "device", "eos_threshold", "frames_after_eos")


def _job(book: Path, voice: str | None, chapters: str | None, **options: Any) -> Job:
    from pipeline.job import Job, parse_chapters
    from pipeline.voices import DEFAULT_VOICE

    if not book.exists() and (close := difflib.get_close_matches(str(book), COMMANDS, n=1)):
        raise UsageError(f"There is no book {str(book)!r}, nor such a command: did you mean {close[0]}?")
    if book.suffix.lower() in (".yaml", ".yml"):
        raise ConfigError(f"{book} is a job manifest, which this version can't run yet: give it a book.")
    said = {name: options.pop(name, None) for name in _POCKET_FLAGS}
    return Job(
        source=book,
        settings={f"engines.pocket.{name}": str(value) for name, value in said.items() if value is not None},
        voice=voice or DEFAULT_VOICE,
        chapters=parse_chapters(chapters) if chapters is not None else None,
        **options,
    )


def _say(message: str) -> None:
    with contextlib.suppress(BrokenPipeError):  # nobody reads the messages: that doesn't end a night's render
        print(message, file=sys.stderr, flush=True)


def _finish(report: Report, go_on: str = "the same command again") -> None:
    """Print what a run did, and raise what its exit code must say."""
    from pipeline.review.report import report_as_lines

    if report.is_stopped:
        raise InterruptedByUser(
            f"Interrupted with {report.num_left} of {report.num_chunks} chunks left; the others are on disk. "
            f"Run {go_on} to go on."
        )
    for line in report_as_lines(report):
        click.echo(line)
    if report.missing:
        raise IncompleteError(
            f"Incomplete: what could not be rendered is listed above and in {report.folder}/report.json. "
            f"`render-book redo {report.folder} --chunk ID` tries a chunk again."
        )


class _Bar:
    """Progress on stderr: a bar on a terminal, else a line whenever a chapter begins."""

    def __init__(self) -> None:
        self._bar: Any = None
        self._begun: set[str] = set()
        self._started = time.monotonic()

    def update(self, progress: Progress) -> None:
        if self._bar is None:
            from tqdm import tqdm

            self._bar = tqdm(total=progress.num_chunks, unit="chunk", disable=None, dynamic_ncols=True)
        seconds = time.monotonic() - self._started
        rate = f"{progress.audio_seconds / seconds:.1f}x" if seconds > 1 else ""
        if self._bar.disable and progress.chapter not in self._begun:
            _say(f"[{progress.num_done}/{progress.num_chunks}] chapter {progress.chapter} {rate}".rstrip())
        self._begun.add(progress.chapter)
        self._bar.set_description_str(progress.chapter[:30], refresh=False)
        self._bar.set_postfix_str(f"{progress.audio_seconds / 3600:.2f} h audio, {rate}", refresh=False)
        self._bar.update(progress.num_done - self._bar.n)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()


@contextmanager
def _running() -> Iterator[tuple[Clock, _Bar]]:
    """A run that SIGINT and SIGTERM stop after what is in flight; a second signal ends it at once."""
    from pipeline.render.loop import Clock

    clock, bar = Clock(), _Bar()

    def on_signal(number: int, frame: object) -> None:
        if clock.is_stopping():
            os._exit(InterruptedByUser.exit_code)  # at once: what is on disk is whole, whatever is cut off
        clock.stop()
        _say("Stopping: what is being rendered is finished and kept. Again to stop at once.")

    before = {number: signal.signal(number, on_signal) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield clock, bar
    finally:
        bar.close()
        for number, handler in before.items():
            signal.signal(number, handler)


if __name__ == "__main__":
    main()
