"""The user's source read, never executed: places where a number can leave its domain. Imports no torch."""
