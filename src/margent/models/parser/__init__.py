"""`Parser`: dependency trees of sentences."""
