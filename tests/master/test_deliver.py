"""Packing chapters into an M4B, and reading back what a player would find there."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from io import BytesIO
from pathlib import Path

import av
import numpy as np
import pytest
import soundfile

from pipeline.errors import IncompleteError, OutputError
from pipeline.master.aac import FRAME, encode_chapter
from pipeline.master.deliver import Mark, Tags, pack_m4b

RATE = 24_000
TAGS = Tags("A Book", ("Ann Lee", "Bo Ray"), "alba", "en-GB", "A House", "2024-05-01")

WriteChapter = Callable[[str, int], Path]


@pytest.fixture
def write_chapter(tmp_path: Path) -> WriteChapter:
    """Writes noise of a length in samples as a chapter's m4a."""

    def write(name: str, num_samples: int, rate: int = RATE) -> Path:
        flac = tmp_path / "chapters" / f"{name}.flac"
        flac.parent.mkdir(exist_ok=True)
        soundfile.write(flac, np.random.default_rng(num_samples).normal(0, 0.05, num_samples), rate)
        encode_chapter(flac, flac.with_suffix(".m4a"))
        return flac.with_suffix(".m4a")

    return write


def length(num_samples: int) -> int:
    """What a chapter takes in a book: whole packets, and one more that prepares the first."""
    return (-(-num_samples // FRAME) + 1) * FRAME


def draw_picture(codec: str, pixels: str) -> bytes:
    encoder = av.CodecContext.create(codec, "w")
    encoder.width, encoder.height, encoder.pix_fmt = 64, 48, pixels
    encoder.time_base = Fraction(1, 25)
    picture = av.VideoFrame.from_ndarray(np.full((48, 64, 3), 99, np.uint8), format="rgb24")
    return b"".join(bytes(packet) for frame in (picture, None) for packet in encoder.encode(frame))


def read_marks(path: Path) -> list[Mark]:
    with av.open(path) as book:
        found = book.chapters()
    assert all(mark["time_base"].denominator == RATE for mark in found)
    return [Mark(mark["metadata"].get("title", ""), mark["start"], mark["end"]) for mark in found]


def decode(path: Path) -> np.ndarray:
    """Every sample, as a strict player hears them: priming skipped, an error raised."""
    with av.open(path, options={"err_detect": "explode"}) as book:
        return np.concatenate([frame.to_ndarray()[0] for frame in book.decode(audio=0)])


def check_whole(path: Path, num_samples: int) -> None:
    """The audio is as long as the marks say, decoded and by its header."""
    assert len(decode(path)) == num_samples
    with av.open(path) as book:
        assert book.streams.audio[0].duration == num_samples


def list_files(folder: Path) -> list[str]:
    return sorted(file.name for file in folder.iterdir() if file.is_file())


def test_the_marks_abut_and_add_up_to_the_audio(tmp_path: Path, write_chapter: WriteChapter) -> None:
    chapters = [(name, write_chapter(name, n)) for name, n in (("a", 30_001), ("b", 12_345), ("c", 50_000))]
    packed = pack_m4b(chapters, TAGS, tmp_path / "book.m4b")
    first, second = length(30_001), length(30_001) + length(12_345)
    third = second + length(50_000) - FRAME
    assert packed.marks == (Mark("a", 0, first), Mark("b", first, second), Mark("c", second, third))
    assert packed.findings == ()
    assert read_marks(tmp_path / "book.m4b") == list(packed.marks)
    check_whole(tmp_path / "book.m4b", third)


def test_a_chapter_is_at_most_two_packets_longer_than_its_flac() -> None:
    for num_samples in (1, FRAME - 1, FRAME, FRAME + 1, 100_000):
        assert 0 < length(num_samples) - num_samples <= 2 * FRAME


def test_a_mark_is_where_its_chapter_is_heard(tmp_path: Path) -> None:
    """Silence, then a tone: it begins at the second mark, to the sample, and sounds as it does alone."""
    for name, level in (("silence", 0.0), ("tone", 0.5)):
        tone = level * np.sin(np.arange(20_480) * 0.3)
        soundfile.write(tmp_path / f"{name}.flac", tone, RATE, format="FLAC", subtype="PCM_16")
        encode_chapter(tmp_path / f"{name}.flac", tmp_path / f"{name}.m4a")
    chapters = [(name, tmp_path / f"{name}.m4a") for name in ("silence", "tone")]
    packed = pack_m4b(chapters, TAGS, tmp_path / "book.m4b")
    heard = decode(tmp_path / "book.m4b")
    start = packed.marks[1].start
    assert abs(np.flatnonzero(np.abs(heard) > 0.25)[0] - start) < 64
    alone = decode(tmp_path / "tone.m4a")
    assert np.abs(heard[start : start + 20_480] - alone[:20_480]).max() < 1e-4


@pytest.mark.parametrize(
    ("title", "shown"),
    [
        ("I. “Yes,” she said; 'no' — ‘maybe’", None),
        ('="#;\\\\n\\', None),
        ("[CHAPTER]\ntitle=x\r\n;END", "[CHAPTER] title=x ;END"),
        ("../a/b:c*?<>|", None),
        ("a\x00b\x01c\x7fd\x85e\tf", "abcd e f"),
        ("👩‍🚀 naïve Ünïcödé 本 \u202eright\u202c", None),
        ("\ufeffbyte order mark", None),
        ("þÿ", None),
        ("lone \ud800surrogate", "lone surrogate"),
        ("é" * 300, None),
        (" spaces at both ends ", None),
        ("x", None),
        ("", None),
        ("\n", " "),
    ],
)
def test_any_title_comes_back(tmp_path: Path, write_chapter: WriteChapter, title: str, shown: str | None) -> None:
    shown = title if shown is None else shown
    tags = Tags(title, (title,), title, "en", title, title)
    sound = write_chapter("a", 2_000)
    packed = pack_m4b([("before", sound), (title, sound), ("after", sound)], tags, tmp_path / "book.m4b")
    assert [mark.title for mark in packed.marks] == ["before", shown, "after"]
    assert read_marks(tmp_path / "book.m4b") == list(packed.marks)
    with av.open(tmp_path / "book.m4b") as book:
        for name in ("title", "album", "artist", "album_artist", "composer", "date"):
            assert book.metadata.get(name, "") == shown


def test_tags_are_where_players_look(tmp_path: Path, write_chapter: WriteChapter) -> None:
    pack_m4b([("a", write_chapter("a", 5_000))], TAGS, tmp_path / "book.m4b")
    assert (tmp_path / "book.m4b").read_bytes()[4:12] == b"ftypM4B "
    with av.open(tmp_path / "book.m4b") as book:
        tags = book.metadata
        sound = book.streams.audio[0]
        assert (sound.codec.name, sound.layout.name, sound.rate) == ("aac", "mono", RATE)
        assert sound.metadata["language"] == "eng"
    assert (tags["title"], tags["album"]) == ("A Book", "A Book")
    assert tags["artist"] == tags["album_artist"] == "Ann Lee, Bo Ray"
    assert (tags["composer"], tags["genre"], tags["date"]) == ("alba", "Audiobook", "2024-05-01")
    assert (tags["comment"], tags["media_type"]) == ("Published by A House", "2")
    assert "encoder" not in tags
    assert "creation_time" not in tags


@pytest.mark.parametrize(
    ("language", "code"), [("en", "eng"), ("pt_BR", "por"), ("DE", "deu"), ("haw", "haw"), ("zh-Hant", "zho")]
)
def test_the_language_has_three_letters(tmp_path: Path, write_chapter: WriteChapter, language: str, code: str) -> None:
    packed = pack_m4b([("a", write_chapter("a", 99))], Tags("", (), "", language), tmp_path / "book.m4b")
    assert packed.findings == ()
    with av.open(tmp_path / "book.m4b") as book:
        assert book.streams.audio[0].metadata["language"] == code


def test_an_unknown_language_is_reported(tmp_path: Path, write_chapter: WriteChapter) -> None:
    packed = pack_m4b([("a", write_chapter("a", 99))], Tags("", (), "", "x-klingon"), tmp_path / "book.m4b")
    assert "“x-klingon”" in packed.findings[0]


@pytest.mark.parametrize(("codec", "pixels"), [("png", "rgb24"), ("mjpeg", "yuvj420p")])
def test_the_cover_is_attached_untouched(tmp_path: Path, write_chapter: WriteChapter, codec: str, pixels: str) -> None:
    picture = draw_picture(codec, pixels)
    tags = Tags("A", ("B",), "C", "en", cover=("image/png", picture))
    packed = pack_m4b([("a", write_chapter("a", 30_000))], tags, tmp_path / "book.m4b")
    assert packed.findings == ()
    with av.open(tmp_path / "book.m4b") as book:
        (cover,) = book.streams.video
        assert (cover.codec.name, cover.width, cover.height) == (codec, 64, 48)
        assert cover.disposition & av.stream.Disposition.attached_pic
        assert bytes(next(book.demux(cover))) == picture
    check_whole(tmp_path / "book.m4b", length(30_000) - FRAME)


@pytest.mark.parametrize("data", [b"", b"GIF89a", b"\x89PNG\r\n\x1a\n junk", b"#EXTM3U\nfile:///etc/passwd\n"])
def test_a_cover_that_cannot_be_decoded_is_reported(tmp_path: Path, write_chapter: WriteChapter, data: bytes) -> None:
    tags = Tags("A", ("B",), "C", "en", cover=("image/png", data))
    packed = pack_m4b([("a", write_chapter("a", 3_000))], tags, tmp_path / "book.m4b")
    assert "cover (image/png" in packed.findings[0]
    assert "left out" in packed.findings[0]
    with av.open(tmp_path / "book.m4b") as book:
        assert not book.streams.video
    assert read_marks(tmp_path / "book.m4b") == list(packed.marks)


@pytest.mark.parametrize("num_chapters", [255, 256, 300])
def test_many_chapters(tmp_path: Path, write_chapter: WriteChapter, num_chapters: int) -> None:
    """The Nero list ends at 255; past that only the chapter track is written."""
    sound = write_chapter("a", 777)
    chapters = [(f"Chapter {number}", sound) for number in range(num_chapters)]
    packed = pack_m4b(chapters, TAGS, tmp_path / "book.m4b")
    assert len(packed.marks) == num_chapters
    assert read_marks(tmp_path / "book.m4b") == list(packed.marks)
    assert (b"chpl" in (tmp_path / "book.m4b").read_bytes()) == (num_chapters <= 255)
    check_whole(tmp_path / "book.m4b", length(777) * num_chapters - FRAME)


def test_short_chapters(tmp_path: Path, write_chapter: WriteChapter) -> None:
    chapters = [(name, write_chapter(name, n)) for name, n in (("one", 1_500), ("long", 40_000), ("short", 100))]
    packed = pack_m4b(chapters, TAGS, tmp_path / "book.m4b")
    assert [mark.title for mark in packed.marks] == ["one", "long", "short"]
    assert read_marks(tmp_path / "book.m4b") == list(packed.marks)
    check_whole(tmp_path / "book.m4b", length(1_500) + length(40_000) + length(100) - FRAME)


def test_no_chapter_is_refused(tmp_path: Path) -> None:
    with pytest.raises(IncompleteError, match="no sound"):
        pack_m4b([], TAGS, tmp_path / "book.m4b")
    assert list_files(tmp_path) == []


def test_the_same_bytes_twice(tmp_path: Path, write_chapter: WriteChapter) -> None:
    chapters = [("a", write_chapter("a", 30_000)), ("b", write_chapter("b", 20_000))]
    tags = Tags("A", ("B",), "C", "en", cover=("image/png", draw_picture("png", "rgb24")))
    for name in ("one.m4b", "two.m4b", "two.m4b"):  # and again over a file that is there
        pack_m4b(chapters, tags, tmp_path / name)
    assert (tmp_path / "one.m4b").read_bytes() == (tmp_path / "two.m4b").read_bytes()
    assert b"Lavf" not in (tmp_path / "one.m4b").read_bytes()
    assert b"Lavc" not in (tmp_path / "one.m4b").read_bytes()
    assert list_files(tmp_path) == ["one.m4b", "two.m4b"]


@pytest.mark.parametrize("spoil", [lambda data: data[: len(data) // 2], lambda data: b"not an m4a at all"])
def test_a_spoilt_chapter_leaves_nothing(
    tmp_path: Path, write_chapter: WriteChapter, spoil: Callable[[bytes], bytes]
) -> None:
    good, bad = write_chapter("good", 30_000), write_chapter("bad", 200_000)
    bad.write_bytes(spoil(bad.read_bytes()))
    with pytest.raises(OutputError, match=r"bad\.m4a can't be read.*delete it"):
        pack_m4b([("good", good), ("bad", bad)], TAGS, tmp_path / "book.m4b")
    assert list_files(tmp_path) == []


def test_a_failure_keeps_the_file_of_before(tmp_path: Path, write_chapter: WriteChapter) -> None:
    (tmp_path / "book.m4b").write_bytes(b"the last one that worked")
    bad = write_chapter("bad", 200_000)
    bad.write_bytes(bad.read_bytes()[:1000])
    with pytest.raises(OutputError):
        pack_m4b([("bad", bad)], TAGS, tmp_path / "book.m4b")
    assert (tmp_path / "book.m4b").read_bytes() == b"the last one that worked"
    assert list_files(tmp_path) == ["book.m4b"]


def test_a_missing_chapter_and_a_folder_that_is_a_file(tmp_path: Path, write_chapter: WriteChapter) -> None:
    with pytest.raises(OutputError, match=r"gone\.m4a can't be read"):
        pack_m4b([("a", tmp_path / "gone.m4a")], TAGS, tmp_path / "book.m4b")
    sound = write_chapter("a", 99)
    with pytest.raises(OutputError, match="its folder is yours"):
        pack_m4b([("a", sound)], TAGS, sound / "book.m4b")


def test_chapters_must_be_of_one_rate(tmp_path: Path, write_chapter: WriteChapter) -> None:
    with pytest.raises(OutputError, match="22050, 24000 Hz"):
        pack_m4b([("a", write_chapter("a", 99)), ("b", write_chapter("b", 99, 22_050))], TAGS, tmp_path / "book.m4b")


def test_a_full_disk_leaves_nothing(tmp_path: Path, write_chapter: WriteChapter) -> None:
    """A limit on file size stands for the disk: the kernel refuses the write in the same place."""
    script = """
import resource, sys
from pathlib import Path
from pipeline.errors import OutputError
from pipeline.master.deliver import Tags, pack_m4b
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
try:
    pack_m4b([("a", Path(sys.argv[1]))], Tags("A", (), "", "en"), Path(sys.argv[2]))
except OutputError as error:
    print(error)
"""
    sound = write_chapter("a", 200_000)
    ran = subprocess.run(
        [sys.executable, "-c", script, str(sound), str(tmp_path / "book.m4b")],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "book.m4b can't be written (File too large)" in ran.stdout
    assert list_files(tmp_path) == []


def test_names_that_a_protocol_or_a_pattern_would_catch(
    tmp_path: Path, write_chapter: WriteChapter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("pipe:1.m4b", "concat:a|b.m4b", "50%03d.m4b", "“é”.m4b", "-x.m4b"):
        pack_m4b([("a", write_chapter("a", 2_000))], TAGS, Path(name))
        check_whole(Path(name).absolute(), length(2_000) - FRAME)


def test_importing_loads_no_heavy_library() -> None:
    script = "import sys, pipeline.master.deliver; print(*{'av', 'numpy', 'soundfile'} & set(sys.modules))"
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == ""


def test_the_picture_helper_draws_what_it_says() -> None:
    with av.open(BytesIO(draw_picture("png", "rgb24")), format="png_pipe") as picture:
        assert next(picture.decode(video=0)).width == 64
