"""Spectral learning: tables of scores of input-output k-grams, made to have low rank, and what they predict.

From data to labels: `bi_symbols` (which outputs an input may have), `k_gram_oracle` with `native_search` (the hinge
loss as a function of a Hankel matrix, `hankel_basis`), `learner` with `singular_values` (the steps), `k_gram_table`
with `forest` (predictions), `operator_model` (hidden states), `weights` with `symbol_map` and `tagging` (as a `Tagger`
has them), `path` (many values of tau). As in the package itself, a name is imported when it is first used.
"""

from margent.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
