"""Tokens of models that have no vocabulary of their own."""

from __future__ import annotations

import re

_WORDPUNCT = re.compile(r"\w+|[^\w\s]+")


def count_wordpunct(text: str) -> int:
    """How many tokens nltk's `wordpunct_tokenize` makes: runs of word characters, runs of marks.

    The same pattern, so that planning a book with Piper needn't import nltk for it; a test compares.
    """
    return len(_WORDPUNCT.findall(text))
