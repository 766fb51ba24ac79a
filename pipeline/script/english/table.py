"""The rules of English in the order in which they are tried."""

from __future__ import annotations

from pipeline.script.english import (
    abbreviations,
    after_names,
    blanks,
    capitals,
    clock,
    dates,
    figures,
    initials,
    measures,
    money,
    numbered,
    references,
    regnal,
    roman,
    streets,
    symbols,
    titles,
    years,
)

_FIGURES = (
    *figures.EARLY_RULES,
    *money.RULES,
    *dates.RULES,
    *clock.RULES,
    *years.RULES,
    *measures.RULES,
    *figures.RULES,
)

RULES = (
    *symbols.EARLY_RULES,
    *initials.EARLY_RULES,
    *blanks.RULES,
    *_FIGURES,
    *roman.EARLY_RULES,
    *numbered.RULES,
    *regnal.RULES,
    *roman.RULES,
    *streets.RULES,
    *titles.RULES,
    *after_names.RULES,
    *references.RULES,
    *abbreviations.RULES,
    *symbols.RULES,
    *initials.RULES,
    *capitals.RULES,
)

HEADING_RULES = (*roman.HEADING_RULES,)
"""Tried before the others where the text is a heading."""
