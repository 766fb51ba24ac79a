"""The tag of a language."""

from __future__ import annotations


def primary_subtag(tag: str) -> str:
    """Of a BCP 47 tag the part that names the language: `en` of `en-GB`, and of `EN_us`, which isn't one."""
    return tag.replace("_", "-").split("-")[0].lower()
