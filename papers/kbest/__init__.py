"""Mancev and Todorovic: k-Best Max-margin Approaches for Sequence Labeling (ComSIS 2015). See README.md."""
