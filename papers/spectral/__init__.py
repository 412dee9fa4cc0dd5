"""Quattoni, Balle, Carreras and Globerson: Spectral Regularization for Max-Margin Sequence Tagging (ICML 2014)."""
