"""Observers of magnitudes, precision and mixed precision."""
