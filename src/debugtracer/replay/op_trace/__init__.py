"""The traced step: who wrote what, and the op in which a bad value was born."""
