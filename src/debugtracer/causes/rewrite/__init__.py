"""A remedy as a change at the user's own line: one source line in, the line or lines in its place out. Reads syntax
only; imports no torch."""
