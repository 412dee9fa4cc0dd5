"""Entailment by a network over binary trees: words, tree-LSTM, alignment, composition of relations. Needs torch."""
