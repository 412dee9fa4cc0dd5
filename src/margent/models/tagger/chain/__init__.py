"""Scores of labels and of their successions in a chain: what most taggers learn."""
