"""Observers of devices, memory and ranks."""
