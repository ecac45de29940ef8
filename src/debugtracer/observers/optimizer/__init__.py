"""Observers of optimizers, schedulers and what an update does."""
