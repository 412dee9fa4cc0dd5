"""Dependency parsing by parts: exact search over arcs and pairs of arcs whose features have weights."""
