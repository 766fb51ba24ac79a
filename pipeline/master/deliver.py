"""Pack finished chapters into the file that listeners get.

This is the only file that imports PyAV, whose wheels carry FFmpeg's libraries: no program need be installed.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from pipeline.errors import IncompleteError, OutputError
from pipeline.master.aac import FRAME
from pipeline.whole_file import whole_file

MAX_NERO_CHAPTERS = 255
"""The Nero chapter list counts in one byte; the QuickTime chapter track beside it has no such end."""

COVER_DEMUXERS = {b"\x89PNG\r\n\x1a\n": "png_pipe", b"\xff\xd8\xff": "jpeg_pipe"}
"""How a picture begins. The demuxer is named, not guessed: a guess would follow a playlist's links."""

ISO_639_2 = dict(
    re.findall(
        "(..):(...)",
        """
        ar:ara bg:bul ca:cat cs:ces cy:cym da:dan de:deu el:ell en:eng es:spa et:est eu:eus fa:fas fi:fin
        fr:fra ga:gle gl:glg he:heb hi:hin hr:hrv hu:hun id:ind is:isl it:ita ja:jpn ka:kat kk:kaz ko:kor
        la:lat lb:ltz lt:lit lv:lav ml:mal nb:nob ne:nep nl:nld nn:nno no:nor pl:pol pt:por ro:ron ru:rus
        sk:slk sl:slv sr:srp sv:swe sw:swa te:tel tr:tur uk:ukr ur:urd vi:vie zh:zho
        """,
    )
)
"""An MP4 track names its language in three letters, an EPUB mostly in two."""


@dataclass(frozen=True, slots=True)
class Tags:
    """What a player shows of the book."""

    title: str
    authors: tuple[str, ...]
    narrator: str
    language: str
    """BCP 47, as in the manuscript: `en`, `en-GB`."""
    publisher: str = ""
    date: str = ""
    cover: tuple[str, bytes] | None = None
    """Media type (image/jpeg or image/png) and the file's bytes."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A chapter in the delivered file, in samples. Marks abut: each starts where the one before it ends."""

    title: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Packed:
    """What is in the file, and a sentence for each thing that was asked for and isn't."""

    marks: tuple[Mark, ...]
    findings: tuple[str, ...]


def pack_m4b(chapters: Sequence[tuple[str, Path]], tags: Tags, path: Path) -> Packed:
    """Put (title, m4a) chapters, in order, into one audiobook with chapter marks, tags and a cover.

    Packets are copied, not encoded again. The same input gives the same bytes. `path` is whole or it isn't there:
    the work is done in a hidden file beside it. The marks abut and add up to the audio's length in samples.

    Raises `OutputError` for a chapter that can't be read or has another sample rate, and for a folder that can't be
    written; `IncompleteError` when there is no chapter.
    """
    if not chapters:
        raise IncompleteError(f"{path.name} would hold no sound: render at least one chapter first.")
    files = [file for _, file in chapters]
    lengths, rate = measure_chapters(files)
    marks = lay_marks([title for title, _ in chapters], lengths)
    with (
        whole_file(path) as partial,
        open_m4b(partial, marks, rate) as container,
        open_m4a(files[0]) as first,
    ):
        stream = container.add_stream_from_template(first.streams.audio[0])
        findings = write_tags(container, stream, tags)
        # The first packet writes the header, so the cover comes after the tags, and before the sound.
        findings += add_cover(container, tags.cover) if tags.cover else []
        copy_packets(container, stream, files, rate)
    return Packed(marks, tuple(findings))


def clean_text(text: str) -> str:
    """Line breaks and tabs become a space; what no tag holds, other controls and lone surrogates, goes."""
    return re.sub(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]", "", re.sub(r"[\t\n\v\f\r\x85]+", " ", text))


def lay_marks(titles: Sequence[str], lengths: Sequence[int]) -> tuple[Mark, ...]:
    """A mark for each chapter, from its length in samples."""
    marks: list[Mark] = []
    for title, length in zip(titles, lengths, strict=True):
        start = marks[-1].end if marks else 0
        marks.append(Mark(clean_text(title), start, start + length))
    return tuple(marks)


def measure_chapters(files: Sequence[Path]) -> tuple[list[int], int]:
    """How many samples each chapter takes in the book, and the sample rate in Hz they share.

    Whole packets: a chapter is up to two packets (85 ms at 24 kHz) of silence longer than its FLAC. A chapter's first
    packet isn't heard but for silence, and counts to the chapter before; the book's very first isn't heard at all.
    """
    lengths, rates = [], set()
    for file in files:
        with open_m4a(file) as container:
            stream = container.streams.audio[0]
            lengths.append(stream.frames * FRAME)
            rates.add(stream.rate)
    if len(rates) > 1:
        raise OutputError(
            f"The chapters beside {files[0]} have different sample rates ({', '.join(map(str, sorted(rates)))} Hz): "
            "delete them and run again, they are stitched anew."
        )
    lengths[-1] -= FRAME
    return lengths, rates.pop()


@contextmanager
def open_m4a(file: Path) -> Iterator[Any]:
    import av

    try:
        container = av.open(str(file), format="mp4")
    except (av.FFmpegError, OSError) as error:
        raise OutputError(
            f"The chapter {file} can't be read ({error.strerror}): delete it and run again, it is encoded anew."
        ) from error
    with container:
        yield container


def copy_packets(container: Any, stream: Any, files: Sequence[Path], rate: int) -> None:
    """All chapters' packets on one time line, which begins one packet before the first sound."""
    time = -FRAME
    for file in files:
        with open_m4a(file) as chapter:
            for packet in chapter.demux(chapter.streams.audio[0]):
                if packet.size == 0:  # the demuxer's end
                    continue
                packet.stream, packet.time_base = stream, Fraction(1, rate)
                packet.pts = packet.dts = time
                packet.duration = FRAME
                container.mux(packet)
                time += FRAME


def open_m4b(partial: Path, marks: Sequence[Mark], rate: int) -> Any:
    import av

    container = av.open(
        str(partial),
        "w",
        format="mp4",  # `ipod`, the format for M4B by name, refuses a cover
        container_options={
            "brand": "M4B ",
            "fflags": "+bitexact",  # no encoder's name and version
            # Index first, so that a browser plays before it has the whole file. At 10 hours (233 MB) that costs
            # 7 MiB of memory and no time that shows. The writer's table of frames takes 6 MiB an hour either way.
            "movflags": "+faststart" + ("+disable_chpl" if len(marks) > MAX_NERO_CHAPTERS else ""),
            "movie_timescale": str(rate),  # marks to the sample; by default they are rounded to milliseconds
        },
    )
    container.set_chapters(
        [
            {
                "id": index,
                "start": mark.start,
                "end": mark.end,
                "time_base": Fraction(1, rate),
                "metadata": {"title": mark.title},
            }
            for index, mark in enumerate(marks)
        ]
    )
    return container


def write_tags(container: Any, stream: Any, tags: Tags) -> list[str]:
    """Set the tags by the names players look under, and say which one could not be."""
    author = ", ".join(tags.authors)
    named = {
        "title": tags.title,
        "album": tags.title,
        "artist": author,
        "album_artist": author,
        "composer": tags.narrator,  # where audiobook players look for the narrator
        "genre": "Audiobook",
        "date": tags.date,
        # FFmpeg's writer knows no publisher atom, so it is said where players show it.
        "comment": f"Published by {tags.publisher}" if tags.publisher else "",
        "media_type": "2",  # "audiobook" to Apple's players
    }
    container.metadata.update({name: clean_text(text) for name, text in named.items() if text})
    primary = re.split(r"[-_]", tags.language.strip().lower())[0]
    code = ISO_639_2.get(primary) or primary
    if not re.fullmatch("[a-z]{3}", code):
        return [f"The language “{clean_text(tags.language)}” has no three-letter code here: the file names none."]
    stream.metadata["language"] = code
    return []


def add_cover(container: Any, cover: tuple[str, bytes]) -> list[str]:
    """Attach the picture, bytes untouched. One that can't be decoded is left out, and a sentence says so."""
    import av

    media_type, data = cover
    try:
        demuxer = next(demuxer for magic, demuxer in COVER_DEMUXERS.items() if data.startswith(magic))
        with av.open(io.BytesIO(data), format=demuxer) as picture:
            next(picture.decode(video=0))
            stream = container.add_stream_from_template(picture.streams.video[0])
    except (av.FFmpegError, StopIteration) as error:
        reason = error.strerror if isinstance(error, av.FFmpegError) else "it is neither JPEG nor PNG"
        return [f"The cover ({media_type}, {len(data)} bytes) can't be decoded and was left out: {reason}."]
    # Its number, since PyAV 16 and 17 don't take the flag itself.
    stream.disposition = av.stream.Disposition.attached_pic.value
    packet = av.Packet(data)
    packet.stream = stream
    packet.pts = packet.dts = 0
    container.mux(packet)
    return []
