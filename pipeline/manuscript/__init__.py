"""What the author wrote: `read_manuscript(path) -> Book`."""
