"""Models behind one protocol (`base.py`), found by name (`registry.py`)."""
