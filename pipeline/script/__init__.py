"""What the narrator says: sentences, spoken forms, and chunks under the engine's budget."""

from pipeline.script.sentences import split_sentences
from pipeline.script.spoken import spoken_form

__all__ = ["split_sentences", "spoken_form"]
