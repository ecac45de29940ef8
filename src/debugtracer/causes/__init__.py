"""The pattern library: one root cause a file, with its signs in the facts and its remedies in order. Imports no torch."""
