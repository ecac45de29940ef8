"""The trace on disk: written, sealed, thinned and read."""
