"""render-book: from a manuscript to a finished audiobook. See docs/ and the command `render-book --help`."""

__version__ = "0.1.0"
