"""How names and rare words are to be read: a YAML file of `word: respelling`, applied to the text.

    Cravech: Kravvek
    gif: jiff
    C++: C plus plus

A word in lower case stands for any case of it. A word with a capital anywhere stands for itself as written
and for all capitals, so that `Polish: Poh-lish` leaves "polish" alone but reads a heading. A space stands for
any white space, and the straight and the curly apostrophe for each other.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from pipeline.strict_yaml import raise_faults, read_tree

# "don" is not a word of "don't", nor "Artagnan" one of "d'Artagnan"; but a word ends before a possessive or a
# contracted verb (Cravech's, he'll).
_BEGIN = re.compile(r"(?<!\w)(?<!\w['’])(?:\w+|[^\w\s])")
_END = r"(?!\w|['’](?!(?:s|d|ll|ve|re)\b)\w)"


@dataclass(frozen=True)
class Lexicon:
    """Words and how they are respelt, in the file's order. No word occurs twice, and none is empty."""

    entries: tuple[tuple[str, str], ...] = ()

    def apply(self, text: str) -> str:
        """Return `text` with every whole word of the lexicon respelt, the longest first, in one pass.

        What was respelt is not looked at again. A capital that begins the word in the text is kept where the
        respelling begins in lower case.
        """
        pieces = []
        done = 0
        for match, (_, respelling) in self._find(text):
            is_capital = match[0][0].isupper()
            pieces += [
                text[done : match.start()],
                respelling[:1].upper() + respelling[1:] if is_capital else respelling,
            ]
            done = match.end()
        return "".join(pieces) + text[done:]

    def find_words(self, text: str) -> frozenset[str]:
        """Return the words that `apply` would respell in `text`, as the lexicon writes them."""
        return frozenset(word for _, (word, _) in self._find(text))

    def _find(self, text: str) -> Iterator[tuple[re.Match[str], tuple[str, str]]]:
        end = 0
        for begin in _BEGIN.finditer(text):
            if begin.start() < end:
                continue
            for pattern, entry in self._by_beginning.get(_fold(begin[0]), ()):
                if match := pattern.match(text, begin.start()):
                    yield match, entry
                    end = match.end()
                    break

    @cached_property
    def _by_beginning(self) -> dict[str, list[tuple[re.Pattern[str], tuple[str, str]]]]:
        """The entries by the first word or mark of theirs, the longest first: one pattern for a thousand
        entries took minutes a book."""
        table: dict[str, list[tuple[re.Pattern[str], tuple[str, str]]]] = {}
        for entry in sorted(self.entries, key=lambda entry: len(entry[0]), reverse=True):
            if begin := _BEGIN.search(entry[0]):
                table.setdefault(_fold(begin[0]), []).append((_match_word(entry[0]), entry))
        return table


def _fold(beginning: str) -> str:
    return beginning.lower().replace("’", "'")


def _match_word(word: str) -> re.Pattern[str]:
    """Return a pattern for `word` in the cases that it stands for."""
    if word == word.lower():
        return re.compile(_escape(word) + _END, re.IGNORECASE)
    return re.compile(f"(?:{_escape(word)}|{_escape(word.upper())})" + _END)


def _escape(word: str) -> str:
    return r"\s+".join(re.sub("['’]", "['’]", re.escape(part)) for part in word.split())


def read_lexicons(paths: Sequence[Path]) -> Lexicon:
    """Several files as one lexicon: a word that stands in more than one is said as the last of them says."""
    entries = {word: respelling for path in paths for word, respelling in read_lexicon(path).entries}
    return Lexicon(tuple(entries.items()))


def read_lexicon(path: Path) -> Lexicon:
    """Return the lexicon that the YAML file at `path` holds. Every key and value is read as a string.

    An empty file is an empty lexicon. Raises `ConfigError`, which names all faults at once as
    `file:line: message`: not a mapping, an empty word or respelling, a respelling that isn't one string, a
    word that is there twice; and where the file can't be read or isn't YAML.
    """
    tree, lines, faults = read_tree(path)
    for word, respelling in tree.items():
        if not word.strip():
            faults.append(f"{lines[(word,)]}: a word must be a string that isn't empty")
        elif not isinstance(respelling, str) or not respelling.strip():
            faults.append(f"{lines[(word,)]}: the respelling of {word!r} must be a string that isn't empty")
    raise_faults(faults)
    return Lexicon(tuple((word.strip(), respelling.strip()) for word, respelling in tree.items()))
