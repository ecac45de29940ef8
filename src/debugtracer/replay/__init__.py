"""Replays a step: in place from the tape, and offline from a capsule."""
