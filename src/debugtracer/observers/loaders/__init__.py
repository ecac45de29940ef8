"""Observers of loaders: their passes, workers and rows."""
