"""The command `render-book`: parse, call one function, print, exit code.

Nothing heavy is imported before a command needs it: `--help` answers at once.
"""

from __future__ import annotations

import difflib
import io
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pipeline import __version__
from pipeline.errors import (
    IncompleteError,
    InterruptedByUser,
    RenderBookError,
    StoppedError,
    UsageError,
)
from pipeline.progress import running, say

if TYPE_CHECKING:
    from pipeline.job import Job
    from pipeline.review.report import JobReport
    from pipeline.script.script import Script

EPILOG = """\b
Commands (each has its own --help):
  render-book BOOK           turn a manuscript into an audiobook; again is the resume
  render-book JOB.yaml       the same for the many books of a manifest
  render-book plan BOOK      what would be read: chapters, words, chunks, hours
  render-book status DIR     how far a book or a job is, also while it renders
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


def _run_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options that say where and until when, shared by `render` and `redo`."""
    for option in (
        click.option("--max-hours", metavar="H", help="Stop after these."),
        click.option("--stop-at", metavar="HH:MM", help="Stop in time, and exit with 7 if work is left."),
        click.option("--ray", metavar="ADDRESS", help="Join a Ray cluster: its address, or auto."),
        click.option("--workers", default=None, metavar="N", help="Models at once: a number, or auto.  [auto]"),
    ):
        command = option(command)
    return command


def _book_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options that say what is read, shared by `render` and `plan`."""
    path = click.Path(path_type=Path)
    for option in (
        click.option("--seed", type=click.IntRange(min=0), metavar="N", help="Another reading. [0]"),
        click.option(
            "--lexicon",
            "lexicons",
            type=path,
            multiple=True,
            metavar="F",
            help="YAML of `word: respelling`, or PLS.",
        ),
        click.option(
            "--no-user-lexicon",
            "user_lexicon",
            is_flag=True,
            flag_value=False,
            default=None,
            help="Leave out your own, ~/.config/render-book/lexicon.yaml.",
        ),
        click.option("--config", type=path, metavar="F", help="A render profile over configs/default.yaml."),
        click.option("--as-book", is_flag=True, default=None, help="BOOK is a folder whose files are one book."),
        click.option("--notes", type=click.Choice(["skip", "inline", "end"]), help="What becomes of notes. [skip]"),
        click.option("--drop", multiple=True, metavar="C", help="Not this chapter: a number, a title, or a kind."),
        click.option("--keep", multiple=True, metavar="C", help="This one too, which `plan` would leave out."),
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
@click.option("--trace-eos", is_flag=True, default=None, help="Write each take's end-of-speech trace beside it.")
@_run_options
@click.version_option(__version__, prog_name="render-book")
def render(book: Path, output: Path | None, formats: str | None, **options: Any) -> None:
    """Turn BOOK (.epub, .docx, .txt, .md or .html) into a finished audiobook, or the many books of a manifest (.yaml).

    The same command again goes on where the last one stopped. An accepted take is never rendered twice.
    """
    from pipeline.run import render_job

    where = _pop_run_options(options)
    job = _with_run_options(_read_job(book, output=output, formats=formats, **options), **where)
    with running(job) as (clock, bar):
        report = render_job(job, clock, bar.update, say)
    _finish(report)


@click.command("render-book plan", context_settings=_CONTEXT)
@_BOOK
@_book_options
@click.option("--json", "as_json", is_flag=True, help="The whole script, in the form of docs/plan.md.")
@click.option("--spoken", "shows_spoken", is_flag=True, help="All that is said otherwise than written; strange words.")
@click.option("--proof", "shows_proof", is_flag=True, help="Where every character of the manuscript goes.")
def plan(book: Path, as_json: bool, shows_spoken: bool, shows_proof: bool, **options: Any) -> None:
    """Say what of BOOK would be read, and why the rest would not. No model is loaded."""
    import json

    from pipeline.plan import make_plan
    from pipeline.script.listing import script_as_lines, spoken_as_lines
    from pipeline.script.proof import account, account_as_lines

    if as_json + shows_spoken + shows_proof > 1:
        raise UsageError("--json, --spoken and --proof each print a list of their own: give one of them.")
    job = _read_job(book, **options)
    if job.name:
        if shows_spoken or shows_proof:
            raise UsageError(f"--spoken and --proof are of one book: name it in place of the manifest {book}.")
        _plan_job(job, as_json=as_json)
        return
    made = make_plan(job.books[0])
    if as_json:
        lines = iter([json.dumps(made.as_dict(), ensure_ascii=False, indent=1)])
    elif shows_spoken:
        lines = spoken_as_lines(made.book, made.script)
    elif shows_proof:
        lines = account_as_lines(account(made.book, made.script))
    else:
        lines = script_as_lines(made.book, made.script, made.profile.gaps_ms.after)
    for line in lines:
        click.echo(line)


@click.command("render-book status", context_settings=_CONTEXT)
@_DIR
@click.option("--json", "as_json", is_flag=True, help="For programs.")
def status(folder: Path, as_json: bool) -> None:
    """Say how far the book in DIR is, or all books of a manifest. Works beside a run."""
    import json

    from pipeline.folder import read_job_status, read_status
    from pipeline.review.status import Status, job_as_lines, status_as_dict, status_as_lines

    if _is_manifest(folder):
        books = read_job_status(_read_job(folder))
        found: Any = [
            {"source": source, "status": status_as_dict(one), "problem": None}
            if isinstance(one, Status)
            else {"source": source, "status": None, "problem": one}
            for source, one in books
        ]
        lines = job_as_lines(books)
    else:
        one = read_status(folder)
        found, lines = status_as_dict(one), status_as_lines(one)
    if as_json:
        click.echo(json.dumps(found, ensure_ascii=False, indent=1))
    else:
        for line in lines:
            click.echo(line)


@click.command("render-book redo", context_settings=_CONTEXT)
@_DIR
@click.option("--chunk", "ids", metavar="ID", multiple=True, help="Its id, or the id's beginning; more than once.")
@_run_options
def redo(folder: Path, ids: Sequence[str], **where: Any) -> None:
    """Render the next attempt of single chunks of the book in DIR, or of a manifest's, and pack it again.

    Without --chunk, go on with what an interrupted redo left.
    """
    from pipeline.folder import find_redos
    from pipeline.run import render_job

    job = find_redos(_read_job(folder) if _is_manifest(folder) else None, folder, ids)
    job = _with_run_options(job, **where)
    with running(job) as (clock, bar):
        report = render_job(job, clock, bar.update, say)
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
    from pipeline.plan import choose_voice
    from pipeline.profile import read_profile
    from pipeline.render.environment import own_packages

    voice = choose_voice(name, read_profile(config))
    registry.open_frontend(voice)
    registry.check_model(voice)
    if packages := registry.packages_of(voice.engine):
        own_packages(voice.engine, packages, click.echo)
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
        say(str(error))
        sys.exit(error.exit_code)
    except OSError as error:  # of the output itself: what is written elsewhere has errors of its own
        say(f"The output can't be written: {error}.")
        sys.exit(UsageError.exit_code)
    sys.exit(0)


_POCKET_FLAGS = ("dtype", "device", "eos_threshold", "frames_after_eos")
_RUN_FLAGS = ("workers", "ray", "stop_at", "max_hours")


def _is_manifest(path: Path) -> bool:
    return path.suffix.lower() in (".yaml", ".yml")


def _read_job(book: Path, **options: Any) -> Job:
    """The job that a manifest describes, or that of one book as its flags say."""
    from pipeline.job import BookJob, Job, parse_chapters, runs_submitted
    from pipeline.script.read_lexicon import own_lexicon
    from pipeline.voices import DEFAULT_VOICE

    if not book.exists() and (close := difflib.get_close_matches(str(book), COMMANDS, n=1)):
        raise UsageError(f"There is no book {str(book)!r}, nor such a command: did you mean {close[0]}?")
    given = {name: value for name, value in options.items() if value not in (None, ())}
    if _is_manifest(book):
        from pipeline.manifest import read_manifest

        if given:
            raise UsageError(_said_by_manifest(next(iter(given)), book))
        return read_manifest(book, is_submitted=runs_submitted())
    if runs_submitted() and "output" in options and not (given.get("output") or Path()).is_absolute():
        raise UsageError("A submitted job runs in a folder that Ray removes: give --output a path that stays.")
    said = {name: given.pop(name) for name in _POCKET_FLAGS if name in given}
    chapters, formats = given.pop("chapters", None), given.pop("formats", None)
    own = own_lexicon() if given.pop("user_lexicon", True) and not runs_submitted() else None
    one = BookJob(
        source=book,
        settings={f"engines.pocket.{name}": str(value) for name, value in said.items()},
        voice=given.pop("voice", DEFAULT_VOICE),
        chapters=parse_chapters(chapters) if chapters is not None else None,
        formats=tuple(formats.split(",")) if formats is not None else None,
        lexicons=((own,) if own else ()) + tuple(given.pop("lexicons", ())),
        **given,
    )
    return Job((one,))


def _said_by_manifest(option: str, manifest: Path) -> str:
    """Where a manifest says what a flag says of one book."""
    flags = {"lexicons": "lexicon", "formats": "format", "user_lexicon": "no-user-lexicon"}
    flag = flags.get(option, option).replace("_", "-")
    if option in _POCKET_FLAGS:
        return f"--{flag} goes into a profile, as engines.pocket.{option}, that the manifest {manifest} names."
    key = {"config": "profile"}.get(option, option)
    where = "for all books or for one" if option == "output" else "for all books (below `defaults:`) or for one"
    return f"--{flag} goes into the manifest {manifest}, as `{key}:` {where}."


def _pop_run_options(options: dict[str, Any]) -> dict[str, Any]:
    return {name: options.pop(name) for name in _RUN_FLAGS}


def _with_run_options(
    job: Job, workers: str | None, ray: str | None, stop_at: str | None, max_hours: str | None
) -> Job:
    """A job with what flags say of where and until when in place of its own."""
    from dataclasses import replace

    from pipeline.job import parse_max_hours, parse_stop_at, parse_workers, runs_submitted, with_replicas

    return replace(
        job,
        workers=job.workers if workers is None else with_replicas(job.workers, parse_workers(workers)),
        ray=ray or job.ray or ("auto" if runs_submitted() else ""),
        stop_at=parse_stop_at(stop_at) if stop_at is not None else job.stop_at,
        max_hours=parse_max_hours(max_hours) if max_hours is not None else job.max_hours,
    )


def _plan_job(job: Job, *, as_json: bool) -> None:
    """A line a book, as text or as JSON; each plan is let go of before the next is made."""
    import json

    from pipeline.plan import Plan, plan_books
    from pipeline.script.listing import expected_hours, job_as_lines

    failed = []

    def rows() -> Iterator[tuple[str, Script | str, float]]:
        for book, plan in plan_books(job.books):
            source = str(book.source)
            if isinstance(plan, Plan):
                fields = plan.as_dict()
                yield source, plan.script, expected_hours(plan.script, plan.profile.gaps_ms.after)
            else:
                fields = {"error": str(plan)}
                failed.append(source)
                yield source, str(plan), 0.0
            if as_json:
                click.echo(json.dumps({"source": source} | fields, ensure_ascii=False))

    for line in job_as_lines(rows()):
        if not as_json:
            click.echo(line)
    if failed:
        raise IncompleteError(f"{len(failed)} of {len(job.books)} books can't be planned: {', '.join(failed)}.")


def _finish(report: JobReport, go_on: str = "the same command again") -> None:
    """Print what a run did, and raise what its exit code must say."""
    from pipeline.review.report import count, job_report_as_lines, left_as_text

    if report.failures and not report.name:
        raise report.failures[0].error
    if report.is_stopped and not report.name:
        left = report.books[0] if report.books else None
        todo = f"{left_as_text(left)}; what is done is on disk" if left else "all of it left"
        raise _stopped(report, f"{todo}. Run {go_on} to go on.")
    for line in job_report_as_lines(report):
        click.echo(line)
    if report.is_stopped:
        num_open = report.num_not_begun + sum(book.is_stopped for book in report.books)
        raise _stopped(report, f"{count(num_open, 'book')} left. Run {go_on} to go on.")
    missing = [book for book in report.books if book.missing]
    if missing:
        raise IncompleteError(
            f"Incomplete: what could not be rendered is listed above and in {missing[0].folder}/report.json. "
            f"`render-book redo {missing[0].folder} --chunk ID` tries a chunk again."
        )
    if report.failures:
        raise IncompleteError(f"Incomplete: {len(report.failures)} of the books failed, as said above.")


def _stopped(report: JobReport, what: str) -> RenderBookError:
    if report.is_interrupted:
        return InterruptedByUser(f"Interrupted with {what}")
    return StoppedError(f"Stopped in time, with {what}")


if __name__ == "__main__":
    main()
