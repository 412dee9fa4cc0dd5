"""Measurements: micro/ of the kernels, versus/ against other programs. Run as modules from the repository root."""
