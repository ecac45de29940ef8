"""Observers of what is saved and loaded, and of weights between updates."""
