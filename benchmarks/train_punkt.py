"""Train the sentence parameters of a language on public-domain fiction.

    python benchmarks/train_punkt.py [--language en] FILES...

FILES are EPUBs or UTF-8 text; only figures about their words are kept. Run it when a language is added or its
lists change; not at each release, since new parameters can move sentence boundaries, and with them the chunks
of books already rendered. `pipeline/script/punkt/LANGUAGE.json` is written anew:

- by hand, and kept as they are: `abbreviations`, `not_abbreviations`, `titles`, `leading`, `trailing`,
  `before_numbers`, `exclaiming`, `pronouns`, `speech_verbs`, `other_verbs`, `after_other_verbs`, `days`,
  `has_ordinals`, `starters`, `not_starters`
  (`pipeline/script/sentence_words.py` says what they do; a language may have nothing else);
- trained: `abbrev_types` and `collocations` less what the lists by hand settle, `sent_starters`, and
  `ortho_context`, of which only the words are kept that begin sentences and are else in lower case. The
  others change no verdict, because a lower-case word after a stop is decided before Punkt is asked.
"""

from __future__ import annotations

import argparse
import json
import re
import zipfile
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

from lxml import html
from nltk.tokenize.punkt import PunktParameters, PunktTrainer

PUNKT = Path(__file__).parents[1] / "pipeline" / "script" / "punkt"
BEGINS_UPPER, MIDDLE_UPPER, MIDDLE_LOWER = 1 << 1, 1 << 2, 1 << 5
MIN_BEGINNINGS = 3
MAX_UPPER_SHARE = 0.03
"""Fiction has "The Vengeance" and lines of verse: Punkt's own "never in the middle" leaves few starters."""


class CountingParameters(PunktParameters):  # type: ignore[misc]
    """Punkt's parameters, which also count how often a word was seen in each context."""

    def __init__(self) -> None:
        super().__init__()
        self.counts: defaultdict[str, Counter[int]] = defaultdict(Counter)

    def add_ortho_context(self, typ: str, flag: int) -> None:
        super().add_ortho_context(typ, flag)
        self.counts[typ][flag] += 1


def read_text(path: Path) -> str:
    """Return the prose of an EPUB's paragraphs, or of a text file, a blank line between paragraphs."""
    if path.suffix != ".epub":
        return path.read_text(encoding="utf-8")
    paragraphs = []
    with zipfile.ZipFile(path) as archive:
        for name in sorted(archive.namelist()):
            if not name.endswith((".xhtml", ".html", ".htm")):
                continue
            for element in html.document_fromstring(archive.read(name)).iter("p", "td"):
                paragraphs.append(" ".join("".join(map(str, element.itertext())).split()))
    return "\n\n".join(paragraphs)


def simplify(text: str) -> str:
    """Make every speech a paragraph: to Punkt, the capital after `said, “` is one in mid-sentence."""
    text = re.sub("[\u2060\ufeff]", "", text)
    text = re.sub("[—–]", " -- ", text)
    return re.sub("[“‘]", "\n\n", text).replace("”", " ").replace("’", "'")


def train(texts: list[str], record: dict[str, Any]) -> dict[str, Any]:
    """Return `record` with its trained keys learnt anew from `texts`."""
    trainer = PunktTrainer()
    trainer.INCLUDE_ALL_COLLOCS = True
    counting = trainer._params = CountingParameters()
    for text in texts:
        trainer.train(simplify(text), finalize=False)
    trainer.finalize_training()
    lists = ("not_abbreviations", "titles", "leading", "trailing", "before_numbers")
    settled = {word for key in lists for word in record.get(key, ())}
    by_hand = set(record.get("abbreviations", ()))
    abbreviations = {word for word in counting.abbrev_types if len(word) > 1} - settled - by_hand
    starters = dict.fromkeys(record.get("starters", ()), BEGINS_UPPER | MIDDLE_LOWER)
    for word, counts in counting.counts.items():
        is_frequent = counts[BEGINS_UPPER] >= MIN_BEGINNINGS and counts[MIDDLE_LOWER] > 0
        is_name = counts[MIDDLE_UPPER] > MAX_UPPER_SHARE * counts.total()
        if word.isalpha() and is_frequent and not is_name and word not in record.get("not_starters", ()):
            starters[word] = BEGINS_UPPER | MIDDLE_LOWER
    pairs = {
        f"{first} {second}"
        for first, second in counting.collocations
        if first in abbreviations | by_hand or (len(first) == 1 and first.isalpha())
    }
    return record | {
        "abbrev_types": sorted(abbreviations),
        "collocations": sorted(pairs),
        "ortho_context": dict(sorted(starters.items())),
        "sent_starters": sorted(word for word in counting.sent_starters if word.isalpha()),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--language", default="en")
    parser.add_argument("files", nargs="+", type=Path)
    arguments = parser.parse_args()
    path = PUNKT / f"{arguments.language}.json"
    record = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    record = train([read_text(file) for file in arguments.files], record)
    path.write_text(json.dumps(record, ensure_ascii=False, indent=0, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
