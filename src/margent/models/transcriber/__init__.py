"""`Transcriber`: from letters to phonemes."""
