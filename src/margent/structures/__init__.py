"""Structures: what may be predicted, and the search that finds the best, the k best, or the expectation over all."""

from __future__ import annotations

from margent.structures import arcs, chain, segments
from margent.structures.arc_scores import ArcScores
from margent.structures.beam_oracle import BeamOracle
from margent.structures.chain_scores import ChainScores
from margent.structures.cosegments import CosegmentForest, Cosegments
from margent.structures.forest import Derivation, EdgeFeatures, Forest, ForestBuilder
from margent.structures.forest_batch import ForestBatch
from margent.structures.forest_chain import ChainForest, chain_forest
from margent.structures.forest_oracle import ForestOracle
from margent.structures.segment_scores import SegmentScores
from margent.structures.transitions import BeamAnswer, TransitionSystem, beam_search

__all__ = [
    "ArcScores",
    "BeamAnswer",
    "BeamOracle",
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
    "SegmentScores",
    "TransitionSystem",
    "arcs",
    "beam_search",
    "chain",
    "chain_forest",
    "segments",
]
