"""How the spoken form compares with two tables of readings, by category, and every reading that differs.

python benchmarks/spoken_gold.py [--failures]
"""

from __future__ import annotations

import csv
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from pipeline.script.spoken import speak

TABLES = Path(__file__).resolve().parents[2] / "shared" / "corpus" / "tn"


def read_rows(path: Path) -> Iterator[tuple[str, str, list[str]]]:
    """Category, what is written, and the readings that are accepted. "=" stands for what is written."""
    with path.open(encoding="utf-8", newline="") as lines:
        rows = csv.DictReader(
            (line for line in lines if not line.startswith("# ")), delimiter="\t", quoting=csv.QUOTE_NONE
        )
        for row in rows:
            accepted = [reading.strip() for reading in row["accept"].split("||")]
            yield row["category"], row["input"], [row["input"] if one == "=" else one for one in accepted]


def plain_words(text: str) -> str:
    """What is heard of a text: case, hyphens, commas, quotation marks, stops and "and" don't count,
    nor whether letters stand apart (F B I, FBI)."""
    text = text.replace("<pause>", "").casefold()
    text = re.sub("[‘’‛′]", "'", text)
    text = re.sub(r"[-—–]", " ", text)
    words = re.findall(r"[\w£$€%°&@#/<>=+*']+", text)
    words = [word.strip("'") for word in words]
    words = [word for word in words if word and word != "and"]
    if not any(char.isalnum() for char in text):
        return ""
    return re.sub(r"\b(\w) (?=\w\b)", r"\1", " ".join(words))


def is_accepted(written: str, accepted: list[str]) -> bool:
    said = plain_words(speak(written, "en").text)
    return any(said == plain_words(reading) for reading in accepted)


def main(show_failures: bool) -> None:
    for name in ("nemo_en.tsv", "audiobook_pitfalls_en.tsv"):
        right: Counter[str] = Counter()
        rows = list(read_rows(TABLES / name))
        for category, written, accepted in rows:
            if is_accepted(written, accepted):
                right[category] += 1
            elif show_failures:
                print(f"{category}: {written!r} -> {speak(written, 'en').text!r}, not {' || '.join(accepted)!r}")
        print(name)
        for category, total in sorted(Counter(category for category, _, _ in rows).items()):
            print(f"  {category:24} {right[category]:4} of {total}")
        print(f"  {'all':24} {right.total():4} of {len(rows)}")


if __name__ == "__main__":
    main("--failures" in sys.argv)
