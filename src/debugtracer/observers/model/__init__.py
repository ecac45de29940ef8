"""Observers of modules: their modes and parts, and the model tested as a function."""
