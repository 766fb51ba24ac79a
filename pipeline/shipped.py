"""Where the files lie that come with the package: voices and profiles."""

from __future__ import annotations

from pathlib import Path


def shipped(folder: str) -> Path:
    """`voices` or `configs`: inside the package once installed, at the top of the checkout otherwise."""
    package = Path(__file__).parent
    inside = package / "_data" / folder
    return inside if inside.is_dir() else package.parent / folder
