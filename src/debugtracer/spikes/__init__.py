"""Spike science: where does a series of the run leave its own past, and what becomes of it. Pure arithmetic on numbers
in order; no torch."""
