"""A chapter's FLAC as AAC, each chapter for itself: the book is then packed by copying packets.

So the encoding is done chapter by chapter while the book still renders, a book of ten hours is packed in seconds,
and an edited sentence encodes its own chapter again and no other.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pipeline.errors import OutputError
from pipeline.whole_file import whole_file

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FRAME = 1_024
"""Samples a packet holds. The first packet of every chapter only prepares the second."""

BLOCK_SAMPLES = 16_384
"""Samples in memory at a time: 0.7 s at 24 kHz."""


def encode_chapter(flac: Path, path: Path, *, kbps: int = 64) -> None:
    """Encode a mono FLAC as an m4a with one AAC stream. The same input gives the same bytes.

    Raises `OutputError` for a FLAC that can't be read or isn't mono, and for a folder that can't be written.
    """
    import av

    with (
        whole_file(path) as partial,
        open_chapter(flac) as sound,
        av.open(str(partial), "w", format="mp4", container_options={"fflags": "+bitexact"}) as container,
    ):
        stream: Any = container.add_stream("aac", rate=sound.samplerate, layout="mono", bit_rate=kbps * 1000)
        # `fast` and not the default `twoloop`: three times as fast, and nearer to the source on speech
        # (docs/decisions/0004-aac.md). Without its temporal noise shaping it is nearer and faster still.
        stream.codec_context.options = {"flags": "+bitexact", "threads": "1", "aac_coder": "fast", "aac_tns": "0"}
        num_read = 0
        for block in read_blocks(sound):
            frame = av.AudioFrame.from_ndarray(block.reshape(1, -1), format="fltp", layout="mono")
            frame.sample_rate, frame.time_base = sound.samplerate, Fraction(1, sound.samplerate)
            frame.pts = num_read
            container.mux(stream.encode(frame))
            num_read += len(block)
        container.mux(stream.encode(None))
        if num_read != sound.frames:
            raise OutputError(f"{flac} holds {num_read} samples and not {sound.frames}: delete it and run again.")


@contextmanager
def open_chapter(file: Path) -> Iterator[Any]:
    """A mono SoundFile; errors while it is open, too, become an `OutputError` that names it."""
    import soundfile

    try:
        with soundfile.SoundFile(file) as sound:
            if sound.channels != 1:
                raise OutputError(
                    f"{file} has {sound.channels} channels, and a chapter has one: delete it and run again."
                )
            # A header may leave the length open: libsndfile makes that 2**63 - 1, and soundfile can't read so far.
            if sound.frames > 2**62:
                raise OutputError(f"{file} doesn't say how long it is: delete it and run again, it is stitched anew.")
            yield sound
    except soundfile.SoundFileError as error:
        raise OutputError(
            f"The chapter {file} can't be read ({error}): delete it and run again, it is stitched anew."
        ) from error


def read_blocks(sound: Any) -> Iterator[NDArray[np.float32]]:
    """Blocks of at most BLOCK_SAMPLES samples in [-1, 1]."""
    while len(block := sound.read(BLOCK_SAMPLES, dtype="float32")):
        yield block
