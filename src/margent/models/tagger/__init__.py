"""`Tagger`: a label for each token."""
