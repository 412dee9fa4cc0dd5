"""Structures: what may be predicted, and the search that finds the best, the k best, or the expectation over all."""

from __future__ import annotations

from margent.structures import chain, segments
from margent.structures.beam_oracle import BeamOracle
from margent.structures.bi_symbols import BiSymbols
from margent.structures.chain_scores import ChainScores
from margent.structures.cosegments import CosegmentForest, Cosegments
from margent.structures.forest import Derivation, EdgeFeatures, Forest, ForestBuilder
from margent.structures.forest_batch import ForestBatch
from margent.structures.forest_chain import ChainForest, chain_forest
from margent.structures.forest_oracle import ForestOracle
from margent.structures.hankel_basis import HankelBasis
from margent.structures.k_gram_forest import KGramForest, k_gram_forest
from margent.structures.k_gram_oracle import KGramOracle
from margent.structures.k_gram_table import KGramTable, Outputs
from margent.structures.operator_model import OperatorModel, pairs_up_to
from margent.structures.segment_scores import SegmentScores
from margent.structures.transitions import BeamAnswer, TransitionSystem, beam_search

__all__ = [
    "BeamAnswer",
    "BeamOracle",
    "BiSymbols",
    "ChainForest",
    "ChainScores",
    "CosegmentForest",
    "Cosegments",
    "Derivation",
    "EdgeFeatures",
    "Forest",
    "ForestBatch",
    "ForestBuilder",
    "ForestOracle",
    "HankelBasis",
    "KGramForest",
    "KGramOracle",
    "KGramTable",
    "OperatorModel",
    "Outputs",
    "SegmentScores",
    "TransitionSystem",
    "beam_search",
    "chain",
    "chain_forest",
    "k_gram_forest",
    "pairs_up_to",
    "segments",
]
