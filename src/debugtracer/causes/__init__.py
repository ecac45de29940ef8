"""The pattern library: one root cause a file, with its evidence in the facts and its remedies in order. Imports no
torch."""
