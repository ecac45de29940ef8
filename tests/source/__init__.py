"""The scan of source code."""
