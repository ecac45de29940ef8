"""Observers of learning rates and schedulers."""
