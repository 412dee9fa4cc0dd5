"""`SemanticParser`: pieces of meanings, the words that say them, types, weights of derivations, model."""
