"""From takes to the audiobook: stitched chapters, then the files that are delivered."""
