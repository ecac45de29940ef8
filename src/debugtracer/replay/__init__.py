"""The same step again: in place from the tape, and offline from a capsule."""
