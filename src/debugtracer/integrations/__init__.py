"""Whose loop: how debug-tracer gets into a program that knows nothing of it."""
