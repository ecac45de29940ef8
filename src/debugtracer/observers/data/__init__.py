"""Observers of loaders, batches and samples."""
