"""How well each segmenter finds the ends of sentences, and how fast.

    python benchmarks/bench_sentences.py [--novel FILE] [--misses] [FILES...]

FILES are JSON lines (`text`, `sentences`, `lang`, perhaps `optional_boundaries`) or cases of ours (`.txt`, see
`tests/cases/sentences`), by default all of both that are here. A row of figures is F1, precision, recall of the
boundaries within the texts. `nupunkt` is measured where it is installed; it is no dependency of the project.
"""

from __future__ import annotations

import argparse
import json
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from pipeline.script.sentences import split_sentences

ROOT = Path(__file__).parents[1]
CORPUS = ROOT.parent / "shared" / "corpus" / "sbd"
CASES = ROOT / "tests" / "cases" / "sentences"
_NAMES = "danish deutsch dutch english_clean french greek italian polish russian spanish"
LANGUAGES = dict(zip(_NAMES.split(), ["da", "de", "nl", "en", "fr", "el", "it", "pl", "ru", "es"], strict=True))
"""The tags of the languages that `pysbd_other_langs` calls by name; the others are looked up by that name."""

Split = Callable[[str, str], list[str]]


class Row(NamedTuple):
    """A text, and the places where a sentence must or may end, in characters but white space."""

    text: str
    required: frozenset[int]
    optional: frozenset[int]
    language: str


def count_visible(text: str) -> int:
    return len("".join(text.split()))


def find_inner_ends(sentences: list[str]) -> frozenset[int]:
    ends: list[int] = []
    for sentence in sentences:
        ends.append((ends[-1] if ends else 0) + count_visible(sentence))
    return frozenset(ends[:-1]) - {0}


def read_rows(path: Path) -> list[Row]:
    """Read a set; of a corpus, only the texts that their sentences add up to."""
    lines = path.read_text(encoding="utf-8").splitlines()
    if path.suffix == ".txt":
        return [read_case(line, path.stem[:2]) for line in lines if line and not line.startswith("#")]
    rows = []
    for line in lines:
        record = json.loads(line)
        if "".join("".join(record["sentences"]).split()) != "".join(record["text"].split()):
            continue
        optional = frozenset(count_visible(record["text"][:end]) for end in record.get("optional_boundaries", ()))
        ends = find_inner_ends(record["sentences"])
        rows.append(Row(record["text"], ends - optional, optional, LANGUAGES.get(record["lang"], record["lang"])))
    return rows


def read_case(case: str, language: str) -> Row:
    """Read a case of ours: "|" ends a sentence and stands for a space, "‖" for none; at "¦" one may end."""
    pieces = re.split("([|‖¦])", case)
    required, optional, position = set(), set(), 0
    for piece, bar in zip(pieces[::2], pieces[1::2], strict=False):
        position += count_visible(piece)
        (optional if bar == "¦" else required).add(position)
    text = re.sub("[|¦]", " ", case).replace("‖", "")
    return Row(text, frozenset(required), frozenset(optional), language)


def find_systems() -> dict[str, Split]:
    systems: dict[str, Split] = {"ours": split_sentences}
    try:
        import nupunkt
    except ImportError:
        pass
    else:
        systems["nupunkt"] = lambda text, language: nupunkt.sent_tokenize(text)
    from nltk.tokenize.punkt import PunktSentenceTokenizer

    punkt = PunktSentenceTokenizer()
    systems["bare punkt"] = lambda text, language: list(punkt.tokenize(text))
    systems["regex"] = split_by_regex
    return systems


_REGEX_END = re.compile(r"[.!?…]+[\"'”’»)\]]*\s+(?=[\"'“‘«(\[—]*[^\W\d_a-z])|\n\s*\n")
_REGEX_NOT = re.compile(r"\b(?:Mr|Mrs|Ms|Dr|St|Prof|Capt|Col|Gen|Lt|Rev|No|vs|etc|[A-Z])\.\s+\Z")


def split_by_regex(text: str, language: str) -> list[str]:
    pieces, start = [], 0
    for end in _REGEX_END.finditer(text):
        if not _REGEX_NOT.search(text[max(0, end.end() - 12) : end.end()]):
            pieces.append(text[start : end.end()])
            start = end.end()
    return [*pieces, text[start:]]


def find_ends(row: Row, split: Split) -> frozenset[int]:
    return find_inner_ends(split(row.text, row.language)) - row.optional


def score(rows: list[Row], split: Split) -> tuple[float, float, float]:
    """Return F1, precision and recall; finding an optional boundary or not changes nothing."""
    num_right = num_found = num_required = 0
    for row in rows:
        found = find_ends(row, split)
        num_right += len(found & row.required)
        num_found += len(found)
        num_required += len(row.required)
    f1 = 2 * num_right / max(1, num_found + num_required)
    return f1, num_right / max(1, num_found), num_right / max(1, num_required)


def print_misses(rows: list[Row], split: Split) -> None:
    """Print each text that `split` gets wrong: "+" stands where an end is too many, "-" where one is missing."""
    for row in rows:
        found = find_ends(row, split)
        marks = dict.fromkeys(found - row.required, "[+]") | dict.fromkeys(row.required - found, "[-]")
        if marks:
            position, pieces = 0, []
            for char in row.text:
                pieces.append(char)
                position += not char.isspace()
                if not char.isspace():
                    pieces.append(marks.get(position, ""))
            print(f"{row.language}: {''.join(pieces)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--novel", type=Path, help="a text file to time")
    parser.add_argument("--misses", action="store_true", help="print what ours gets wrong, instead")
    parser.add_argument("files", nargs="*", type=Path)
    arguments = parser.parse_args()
    paths = arguments.files or [*sorted(CORPUS.glob("*.jsonl")), *sorted(CASES.glob("*.txt"))]
    systems = find_systems()
    if arguments.misses:
        for path in paths:
            print_misses(read_rows(path), split_sentences)
        return
    print(f"{'set':24}" + "".join(f"{name:>20}" for name in systems))
    for path in paths:
        rows = read_rows(path)
        cells = ["  {:.3f} {:.3f} {:.3f}".format(*score(rows, split)).rjust(20) for split in systems.values()]
        print(f"{path.stem:24}" + "".join(cells))
        for language in sorted({row.language for row in rows if path.stem == "pysbd_other_langs"}):
            of_it = [row for row in rows if row.language == language]
            cells = ["  {:.3f} {:.3f} {:.3f}".format(*score(of_it, split)).rjust(20) for split in systems.values()]
            print(f"  {language:22}" + "".join(cells))
    if arguments.novel:
        text = arguments.novel.read_text(encoding="utf-8")
        for name, split in systems.items():
            started = time.perf_counter()
            num = len(split(text, "en"))
            print(f"{name:12} {num} sentences of {len(text)} characters in {time.perf_counter() - started:.2f} s")


if __name__ == "__main__":
    main()
