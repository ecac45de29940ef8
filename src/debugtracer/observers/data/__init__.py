"""Observers of batches and samples."""
