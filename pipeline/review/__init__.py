"""Was it said right? Transcripts and reports."""
