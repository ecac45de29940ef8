"""Derived seeds are the same on every machine."""

from __future__ import annotations

import hashlib

import debugtracer
from debugtracer.seeds import derive_seed


def test_it_is_the_first_eight_hex_digits_of_sha256():
    assert derive_seed(42, "augmentation") == 4001471212
    assert derive_seed(12345, "split") == int(hashlib.sha256(b"12345_split").hexdigest()[:8], 16)


def test_stages_and_bases_do_not_share_and_fit_every_generator():
    seeds = {
        derive_seed(base, stage) for base in range(50) for stage in ("split", "augmentation", "worker0", "worker1")
    }
    assert len(seeds) == 200
    assert all(0 <= seed < 2**32 for seed in seeds)


def test_it_is_public():
    assert debugtracer.derive_seed is derive_seed
