"""`PhraseParser`: grammar, words, pruned charts, weights of spans, model."""
