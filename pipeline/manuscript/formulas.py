"""Which formulas read themselves, as "x = 2" does."""

from __future__ import annotations

from lxml import etree

from pipeline.manuscript.markup import local_name

FORMULA_TOKENS = frozenset(["mi", "mn", "mo", "mtext"])
"""Elements of MathML that are apart from each other when they are heard."""
_FLAT = FORMULA_TOKENS | {"math", "mrow", "mstyle", "semantics", "annotation", ""}


def is_flat_formula(formula: etree._Element) -> bool:
    """Whether a formula's signs stand in one line, without fractions, powers and the like."""
    return all(local_name(inner) in _FLAT for inner in formula.iter())
