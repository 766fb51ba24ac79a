"""Build an EPUB 3 from a folder: `python examples/build_epub.py examples/story examples/the-story.epub`.

The folder holds package.opf at its top and what that names. The same folder gives the same bytes: members are
sorted, dated 1980-01-01 (a zip's first day) and stored, since what deflate makes depends on the zlib at hand.
"""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path

CONTAINER = """<?xml version="1.0" encoding="utf-8"?>
<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container">
  <rootfiles>
    <rootfile full-path="EPUB/package.opf" media-type="application/oebps-package+xml"/>
  </rootfiles>
</container>
"""


def build_epub(folder: Path, path: Path) -> None:
    """Write `path` anew, hidden files left out. Raises FileNotFoundError for a folder without package.opf."""
    if not (folder / "package.opf").is_file():
        raise FileNotFoundError(f"{folder} has no package.opf at its top, so it can't become an EPUB.")
    members = {
        f"EPUB/{file.relative_to(folder).as_posix()}": file.read_bytes()
        for file in folder.rglob("*")
        if file.is_file() and not file.name.startswith(".")
    }
    members["META-INF/container.xml"] = CONTAINER.encode()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as book:
        # First and stored: a reader knows an EPUB by the bytes at 30.
        for name, data in [("mimetype", b"application/epub+zip"), *sorted(members.items())]:
            member = zipfile.ZipInfo(name)
            member.create_system = 3  # else it says on which system it was made
            member.external_attr = 0o100644 << 16
            book.writestr(member, data)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: build_epub.py FOLDER OUT.epub")
    build_epub(Path(sys.argv[1]), Path(sys.argv[2]))
