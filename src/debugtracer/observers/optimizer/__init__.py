"""Observers of optimizers and of what an update does."""
