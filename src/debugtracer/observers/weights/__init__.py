"""Observers of the weights: who fills, copies, ties and replaces them."""
