"""Ways out: the numbers of a run in the formats of other tools, one file a format. Imports no torch."""
