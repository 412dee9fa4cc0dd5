"""Zhao 2017, Structured Learning with Latent Variables: inexact search, hidden labels, grapheme to phoneme."""
