"""Scores of input-output k-grams: what `Spectral` learns."""
