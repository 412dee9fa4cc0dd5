"""Transition-based parsing: trees that are built action by action."""
