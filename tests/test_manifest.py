"""Manifests: what they say, and that whatever they say wrong is told at once, by line."""

from __future__ import annotations

import os
import re
from datetime import time
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.errors import ConfigError
from pipeline.job import BookJob, Job, Workers
from pipeline.manifest import Book, Defaults, EngineWorkers, Manifest, read_manifest
from tests.conftest import ROOT

CASES = Path(__file__).parent / "cases" / "manifests"
"""Each bad manifest lies beside what is said of it; REFRESH_CASES=1 writes that anew."""

ONE = "books:\n  - source: one.txt\n"


@pytest.fixture(autouse=True)
def no_voices_but_the_shipped(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("RENDER_BOOK_VOICES", str(tmp_path_factory.mktemp("voices")))


@pytest.fixture
def read(tmp_path):
    """Reads a manifest that lies beside the manuscripts `one.txt` and `two.txt`."""
    for name in ("one", "two"):
        (tmp_path / f"{name}.txt").write_text("It rained.\n")

    def read_text(text: str | bytes, **options: bool) -> Job:
        path = tmp_path / "night.yaml"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return read_manifest(path, **options)

    return read_text


@pytest.mark.parametrize("name", sorted({path.stem for path in CASES.iterdir() if path.is_file()}))
def test_bad_manifests(name, monkeypatch):
    monkeypatch.chdir(CASES)
    with pytest.raises(ConfigError) as refused:
        read_manifest(Path(f"{name}.yaml"), is_submitted=name.startswith("submitted"))
    said = str(refused.value).replace(f"{CASES}/", "") + "\n"
    golden = CASES / f"{name}.txt"
    if os.environ.get("REFRESH_CASES"):
        golden.write_text(said)
    assert said == golden.read_text()
    own_lines = [int(number) for number in re.findall(rf"^{name}\.yaml:(\d+): ", said, re.MULTILINE)]
    assert own_lines, "an empty golden case"
    assert own_lines == sorted(own_lines)


def test_all_that_can_be_said(read, tmp_path):
    (tmp_path / "names.yaml").write_text("Cravech: Kravvek\n")
    (tmp_path / "more.yaml").write_text("gif: jiff\n")
    (tmp_path / "slow.yaml").write_text("gaps_ms: {scene: 2000}\n")
    (tmp_path / "reader.yaml").write_text("engine: tone\nlanguage: en\nlicence: CC0-1.0\n")
    job = read("""
output: ../out
defaults:
  voice: tone
  lexicons: [names.yaml, more.yaml]
  formats: [m4b, flac]
  profile: slow.yaml
  chapters: 1-3,7
  seed: 3
  priority: -1
books:
  - source: one.txt
  - source: two.txt
    voice: reader.yaml
    output: special
    lexicons: more.yaml
    formats: flac
    profile: ./slow.yaml
    chapters: [2, 4-5]
    seed: 0
    priority: 5
workers:
  pocket: {replicas: auto, num_cpus: 2, num_gpus: 0.5}
  piper: 4
  tone: auto
ray: head:6379
stop_at: 07:00
max_hours: 8.5
""")
    assert job == Job(
        books=(
            BookJob(
                source=tmp_path / "one.txt",
                voice="tone",
                output=tmp_path.parent / "out" / "one",
                chapters=(1, 2, 3, 7),
                formats=("m4b", "flac"),
                config=tmp_path / "slow.yaml",
                lexicons=(tmp_path / "names.yaml", tmp_path / "more.yaml"),
                seed=3,
                priority=-1,
            ),
            BookJob(
                source=tmp_path / "two.txt",
                voice=str(tmp_path / "reader.yaml"),
                output=tmp_path / "special",
                chapters=(2, 4, 5),
                formats=("flac",),
                config=tmp_path / "slow.yaml",
                lexicons=(tmp_path / "names.yaml", tmp_path / "more.yaml"),
                seed=0,
                priority=5,
            ),
        ),
        name="night",
        folder=tmp_path.parent / "out",
        workers={"pocket": Workers(None, 2, 0.5), "piper": Workers(4), "tone": Workers()},
        ray="head:6379",
        stop_at=time(7),
        max_hours=8.5,
    )


def test_what_is_left_out_is_as_on_the_command_line(read, tmp_path):
    folder = tmp_path / "output"
    book = BookJob(tmp_path / "one.txt", output=folder / "one")
    assert read(ONE) == Job((book,), name="night", folder=folder)


def test_a_book_can_undo_a_default(read, tmp_path):
    (tmp_path / "names.yaml").write_text("Cravech: Kravvek\n")
    job = read(f"defaults: {{lexicons: names.yaml, voice: tone}}\n{ONE}    lexicons: []\n    voice: alba\n")
    assert (job.books[0].lexicons, job.books[0].voice) == ((), "alba")


@pytest.mark.parametrize(("said", "replicas"), [("4", 4), ("auto", None)])
def test_workers_of_all_engines(read, said, replicas):
    job = read(f"{ONE}workers: {said}\n")
    assert job.workers_of("piper") == job.workers_of("pocket") == Workers(replicas)


def test_the_same_book_twice_into_two_folders(read, tmp_path):
    job = read(f"{ONE}  - source: one.txt\n    output: output/again\n")
    assert [book.output for book in job.books] == [tmp_path / "output" / "one", tmp_path / "output" / "again"]


def test_what_yaml_would_make_something_else_of(read, tmp_path):
    job = read(f"stop_at: 23:30\noutput: 0123456789\n{ONE}    seed: 0120\n    chapters: 010\n    priority: 1_000\n")
    assert job.stop_at == time(23, 30)
    book = job.books[0]
    assert (book.seed, book.chapters, book.priority) == (120, (10,), 1000), "numbers are decimal"
    assert book.output == tmp_path / "0123456789" / "one"


@pytest.mark.parametrize(
    "text",
    [
        b"\xef\xbb\xbf" + ONE.encode(),
        ONE.replace("\n", "\r\n").encode(),
        f"---\n{ONE}...\n".encode(),
        f"# of the night\n\n{ONE}".encode(),
        b"books: [{source: 'one.txt'}]",
        b'"books": [{"source": "one.txt"}]',
    ],
    ids=["byte order mark", "CRLF", "marked as a document", "comment", "flow", "JSON"],
)
def test_the_same_in_other_forms(read, tmp_path, text):
    assert [book.source for book in read(text).books] == [tmp_path / "one.txt"]


def test_lines_are_counted_in_windows_files_too(read):
    with pytest.raises(ConfigError, match=r"night\.yaml:3: books\[0\]\.sed: unknown key \(did you mean seed\?\)$"):
        read(b"\xef\xbb\xbf" + ONE.replace("\n", "\r\n").encode() + b"    sed: 1\r\n")


def test_a_home_folder_is_meant_by_a_tilde(read, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert read(f"output: ~/audio\n{ONE}").books[0].output == tmp_path / "home" / "audio" / "one"
    assert read(f"output: ./~/audio\n{ONE}").books[0].output == tmp_path / "~" / "audio" / "one"


def test_paths_are_the_manifests_own_wherever_it_is_run_from(read, tmp_path, monkeypatch):
    (tmp_path / "elsewhere").mkdir()
    read(f"output: out\n{ONE}")
    monkeypatch.chdir(tmp_path / "elsewhere")
    book = read_manifest(Path("..") / "night.yaml").books[0]
    assert (book.source, book.output) == (tmp_path / "one.txt", tmp_path / "out" / "one")


def test_two_names_of_one_folder_are_the_same_folder(read, tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    with pytest.raises(ConfigError, match=r"yaml:5: .*link/one may be the same folder as .*real/one.*\(line 3\)"):
        read(f"{ONE}    output: real/one\n  - source: two.txt\n    output: link/one\n")


def test_a_submitted_job_writes_only_where_it_stays(read, tmp_path):
    job = read(f"output: {tmp_path}/kept\n{ONE}", is_submitted=True)
    assert job.books[0].output == tmp_path / "kept" / "one"
    job = read(f"{ONE}    output: ~/kept\n", is_submitted=True)
    assert job.books[0].output == Path.home() / "kept"


def test_a_manifest_that_cannot_be_read(tmp_path):
    with pytest.raises(ConfigError, match=r"There is no such file as .*none\.yaml: check"):
        read_manifest(tmp_path / "none.yaml")
    with pytest.raises(ConfigError, match="can't be read"):
        read_manifest(tmp_path)
    (tmp_path / "latin.yaml").write_bytes(b"books:\n  - source: caf\xe9.txt\n")
    with pytest.raises(ConfigError, match=r"latin\.yaml:2: not UTF-8"):
        read_manifest(tmp_path / "latin.yaml")


def test_a_thousand_books_are_read_at_once(read, tmp_path):
    books = "".join(f"  - {{source: one.txt, voice: joe, profile: slow.yaml, output: out/{i}}}\n" for i in range(1000))
    (tmp_path / "slow.yaml").write_text("gaps_ms: {scene: 2000}\n")
    assert len(read(f"books:\n{books}").books) == 1000


def test_the_example_is_a_manifest(tmp_path):
    (tmp_path / "examples").mkdir()
    (tmp_path / "examples" / "the-story.epub").write_bytes(b"PK\x03\x04 made by `make demo`")
    (tmp_path / "jobs").mkdir()
    path = tmp_path / "jobs" / "overnight.yaml"
    path.write_text((ROOT / "jobs" / "overnight.yaml").read_text(encoding="utf-8"))
    assert read_manifest(path).name == "overnight"


def test_the_example_of_the_docs_is_a_manifest(tmp_path):
    text = (ROOT / "docs" / "manifest.md").read_text(encoding="utf-8")
    example = re.findall(r"```yaml\n(.*?)```", text, re.DOTALL)[0]
    for source in re.findall(r"source: (\S+)", example):
        (tmp_path / source).resolve().parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / source).write_bytes(b"PK\x03\x04")
    (tmp_path / "names.yaml").write_text("")
    (tmp_path / "night.yaml").write_text(example)
    assert len(read_manifest(tmp_path / "night.yaml").books) == 2


def test_the_docs_name_every_key_and_no_other():
    text = (ROOT / "docs" / "manifest.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^\| `(.+?)` \|", text, re.MULTILINE)) == {
        *Manifest.model_fields,
        *(f"books[].{key}" for key in Book.model_fields),
        *(f"workers.<engine>.{key}" for key in EngineWorkers.model_fields),
    }
    assert set(Defaults.model_fields) == set(Book.model_fields) - {"source", "output", "as_book"}, (
        "as the row of `defaults` says"
    )


KEYS = [
    *(Manifest.model_fields | Book.model_fields | EngineWorkers.model_fields),
    *("pocket", "tone", "<<", "", "~", "a: b", "1", "a\nb", "\x85", "\ud800", "y" * 300),
]
WORDS = [
    *(
        "one.txt",
        "tone",
        "alba",
        "auto",
        "m4b",
        "1-3,7",
        "07:00",
        "2",
        "0.5",
        "-1",
        "1e3",
        "inf",
        "null",
        "~",
        "",
        " ",
        "yes",
    ),
    *(
        "night.yaml",
        ".",
        "..",
        "/",
        "//",
        "~x",
        "a://b",
        "\0",
        "\n",
        "\x85",
        "\ud800",
        "\u2028",
        "x" * 300,
        "9" * 5000,
        "{",
        "%s",
    ),
]
SHRAPNEL = [
    *(
        "\n",
        "\r",
        "\t",
        "  ",
        "- ",
        ": ",
        ":",
        "#",
        "&a ",
        "*a",
        "<<: ",
        "? ",
        "| ",
        ">-\n",
        "---\n",
        "...\n",
        "%YAML 1.2\n",
    ),
    *(
        "[",
        "]",
        "{",
        "}",
        ",",
        "'",
        '"',
        "\\",
        "!!int ",
        "!x",
        "@",
        "`",
        "%",
        '"\\U99999999"',
        '"\\x0a"',
        "\x07",
        "\x85",
        "\ufeff",
    ),
]

trees = st.recursive(
    st.sampled_from(WORDS) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS) | st.text(max_size=4), inner, max_size=5)
    ),
    max_leaves=12,
)
manifests = st.fixed_dictionaries(
    {
        "books": st.lists(
            st.fixed_dictionaries(
                {"source": st.just("one.txt")}, optional=dict.fromkeys(set(Book.model_fields) - {"source"}, trees)
            ),
            max_size=3,
        )
    },
    optional=dict.fromkeys(set(Manifest.model_fields) - {"books"}, trees),
)
scraps = st.lists(st.sampled_from([*SHRAPNEL, *KEYS, *WORDS]) | st.text(max_size=3), max_size=30).map("".join)


@given(st.one_of((manifests | trees).map(lambda tree: yaml.dump(tree)), scraps, scraps.map(lambda scrap: ONE + scrap)))
@settings(max_examples=400, deadline=None)
def test_any_text_is_a_job_or_told_by_line(tmp_path_factory, text):
    path = tmp_path_factory.getbasetemp() / "night.yaml"
    (path.parent / "one.txt").write_text("It rained.\n")
    path.write_bytes(text.encode(errors="surrogatepass"))
    try:
        job = read_manifest(path)
    except ConfigError as error:
        for line in re.split("[\n\r\x85\u2028\u2029]", str(error)):
            assert re.match(r"/.+?\.(yaml|txt):\d+: .", line), line
    else:
        assert job.books
        assert all(path.is_absolute() for book in job.books for path in (book.source, book.output, *book.lexicons))
