"""Where a value was written: read in the source of the user, from the line that uses it backwards."""
