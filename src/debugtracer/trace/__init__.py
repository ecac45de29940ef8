"""What is known of a run: typed facts, how they are written, how they are read. Imports no torch."""
