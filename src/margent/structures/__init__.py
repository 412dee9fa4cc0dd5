"""Structures: what may be predicted, and the search that finds the best, the k best, or the expectation over all."""

from __future__ import annotations

from margent.structures import chain
from margent.structures.chain_scores import ChainScores
from margent.structures.forest import Derivation, Forest, ForestBuilder
from margent.structures.forest_chain import ChainForest, chain_forest
from margent.structures.operator_model import OperatorModel, pairs_up_to

__all__ = [
    "ChainForest",
    "ChainScores",
    "Derivation",
    "Forest",
    "ForestBuilder",
    "OperatorModel",
    "chain",
    "chain_forest",
    "pairs_up_to",
]
