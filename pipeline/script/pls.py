"""W3C PLS 1.0, the pronunciation lexicons that EPUB 3 and speech engines share, as entries.

https://www.w3.org/TR/pronunciation-lexicon/. Of a lexeme the pronunciation that is preferred counts, else the first;
of several lexemes for one word likewise. Expat never reads another file, and no entity is expanded.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import NoReturn
from xml.parsers import expat

from pipeline.errors import ConfigError
from pipeline.script.lexicon import Entry, Lexicon

NAMESPACE = "http://www.w3.org/2005/01/pronunciation-lexicon"
_XML = "http://www.w3.org/XML/1998/namespace"
_TEXTS = ("grapheme", "phoneme", "alias")


@dataclass
class _Saying:
    """A `phoneme` or an `alias`."""

    ipa: str = ""
    say: str = ""
    is_preferred: bool = False


@dataclass
class _Lexeme:
    line: int
    graphemes: list[str] = field(default_factory=list)
    sayings: list[_Saying] = field(default_factory=list)
    is_skipped: bool = False
    """Whether some pronunciation of it is in an alphabet that isn't read."""


def read_pls(data: bytes, name: str) -> Lexicon:
    """The lexicon in the bytes of a PLS file; `name` is what messages call it.

    What isn't read of it is noted: roles, and sounds in other alphabets than IPA. Raises `ConfigError` with the
    line of a file that isn't well-formed, isn't PLS, or has entities of its own.
    """
    reader = _Reader(name)
    reader.read(data)
    entries: dict[str, Entry] = {}
    preferred: set[str] = set()
    for lexeme in reader.lexemes:
        saying = next((one for one in lexeme.sayings if one.is_preferred), None)
        chosen = saying or next(iter(lexeme.sayings), None)
        if chosen is None:
            continue
        # An engine that takes no sounds is given the alias that stands beside them.
        say = chosen.say or next((one.say for one in lexeme.sayings if one.say), "")
        made = Entry("", say, chosen.ipa, language=reader.language, place=f"{name}:{lexeme.line}")
        for word in lexeme.graphemes:
            if word not in entries or (saying and word not in preferred):
                entries[word] = replace(made, word=word)
            if saying:
                preferred.add(word)
    return Lexicon(tuple(entries.values()), tuple(reader.notes()))


class _Reader:
    """What expat calls back: the lexemes of a file as they come by."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._parser = parser = expat.ParserCreate(namespace_separator=" ")
        parser.buffer_text = True
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._characters
        parser.EntityDeclHandler = self._refuse_entity
        parser.SkippedEntityHandler = self._refuse_entity
        self._alphabet = ""
        self._text: list[str] | None = None
        self._saying: _Saying | None = None
        self._num_roles = 0
        self._other_alphabets: Counter[str] = Counter()
        self._is_begun = False
        self.language = ""
        self.lexemes: list[_Lexeme] = []

    def read(self, data: bytes) -> None:
        try:
            self._parser.Parse(data, True)
        except expat.ExpatError as error:
            raise ConfigError(
                f"{self._name}:{error.lineno}: isn't well-formed XML ({expat.ErrorString(error.code)}); correct it "
                "there, or just above."
            ) from None
        except (LookupError, ValueError) as error:  # of an encoding that Python doesn't know, or can't hand on
            raise ConfigError(f"{self._name}:1: can't be decoded ({error}); save the file as UTF-8.") from None

    def notes(self) -> list[str]:
        notes = []
        if self._num_roles:
            notes.append(f"lexicon {self._name}: {self._num_roles} entries have a role, which isn't looked at.")
        for alphabet, number in self._other_alphabets.items():
            notes.append(
                f"lexicon {self._name}: {number} pronunciations in the alphabet {alphabet!r} are not used: only ipa is."
            )
        empty = [one for one in self.lexemes if not (one.sayings or one.is_skipped) or not one.graphemes]
        notes += [f"{self._name}:{one.line}: a lexeme without a word, or how it is said, is not used." for one in empty]
        return notes

    def _fail(self, problem: str) -> NoReturn:
        raise ConfigError(f"{self._name}:{self._parser.CurrentLineNumber}: {problem}.")

    def _refuse_entity(self, entity: str, *_: object) -> None:
        self._fail(f"the entity {entity!r} isn't read; write what it stands for in its place")

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        space, _, local = tag.rpartition(" ")
        if not self._is_begun:
            if local != "lexicon" or space not in ("", NAMESPACE):
                self._fail(f"isn't a pronunciation lexicon: it begins with <{local}>, not with PLS's <lexicon>")
            self._is_begun = True
            self._alphabet = attributes.get("alphabet", "")
            self.language = attributes.get(f"{_XML} lang", "")
        elif space not in ("", NAMESPACE):
            return
        elif local == "lexeme":
            self.lexemes.append(_Lexeme(self._parser.CurrentLineNumber))
            self._num_roles += "role" in attributes
        elif local in _TEXTS and self.lexemes:
            self._text = []
            self._saying = self._begin_saying(local, attributes)

    def _begin_saying(self, tag: str, attributes: dict[str, str]) -> _Saying | None:
        if tag == "grapheme":
            return None
        if tag == "phoneme" and (alphabet := attributes.get("alphabet", self._alphabet)).lower() != "ipa":
            self._other_alphabets[alphabet] += 1
            self.lexemes[-1].is_skipped = True
            return None
        return _Saying(is_preferred=attributes.get("prefer", "").strip() in ("true", "1"))

    def _characters(self, text: str) -> None:
        if self._text is not None:
            self._text.append(text)

    def _end(self, tag: str) -> None:
        local = tag.rpartition(" ")[2]
        if self._text is None or local not in _TEXTS:
            return
        text = " ".join("".join(self._text).split())
        lexeme, saying = self.lexemes[-1], self._saying
        self._text = self._saying = None
        if not text:
            return
        if local == "grapheme":
            lexeme.graphemes.append(unicodedata.normalize("NFC", text))
        elif saying is not None:
            saying.ipa, saying.say = (text, "") if local == "phoneme" else ("", text)
            lexeme.sayings.append(saying)
