"""Measurements: micro/ of the kernels, versus/ against other programs. Run them as modules from the repository root."""
