"""Seeds for the stages of a pipeline, derived from one that is written down."""

from __future__ import annotations

import hashlib


def derive_seed(base: int, stage: str) -> int:
    """A seed for one stage (`split`, `augmentation`, `worker3`): the first 8 hex digits of SHA-256 of "base_stage",
    0..2**32-1.

    The same base and stage give the same seed on every machine; stages do not share their random numbers.
    """
    return int(hashlib.sha256(f"{base}_{stage}".encode()).hexdigest()[:8], 16)
