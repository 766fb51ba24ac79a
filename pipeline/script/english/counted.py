"""What is counted: words after a figure that say that it is a number, and no year or day."""

from __future__ import annotations

import re

_COUNTED = (
    r"(?:feet|foot|ft|inch|inches|yards?|miles?|mi|km|metres?|meters?|men|women|people|persons|souls|soldiers|"
    r"pounds?|lbs?|dollars|cents|francs|crowns|guineas|shillings|pence|years?|months?|weeks?|days|hours|minutes|seconds|"
    r"times|tons?|acres|horses|ships|pages|words|copies|head|votes|percent|per|%|degrees|children|others|more|or\sso|different|"
    # any other plural, that is a word in -s which is neither a verb nor one of these, and not in -ss, -us or -is
    r"(?!was|is|has|as|his|its|this|thus|across|towards|unless|perhaps|always|besides|yes|us|does|sees|shows|marks|"
    r"brings|begins|sits|comes|goes|stands|remains|means|seems|gives|makes|takes)[a-z]{3,}[^sui]s)\b"
)
COUNTED_AFTER = re.compile(rf"\s(?:[a-z]+-)?{_COUNTED}")
"""1500 miles, 1500 sea-miles, 1500 birds."""
