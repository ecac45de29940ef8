"""Arrays of small unsigned integers and the ids that were read from them."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from debugtracer.observers.data import stored_ids
from debugtracer.observers.data.stored_ids import asked, held, holds, narrow, occurring

FLAT = np.random.default_rng(1).integers(0, 256, 4000).astype(np.uint8)


def test_small_unsigned_numbers_alone_are_a_store():
    assert narrow(torch.zeros(300, 2, dtype=torch.uint8)).shape == (600,)
    assert narrow(torch.zeros(300, dtype=torch.uint16)).dtype == np.uint16
    assert narrow(FLAT.reshape(40, 100)).shape == (4000,)
    for other in (FLAT[:20], FLAT[::2], FLAT.astype(np.int16), FLAT.astype(">u2"), torch.zeros(300), "text", None):
        assert narrow(other) is None


def test_a_run_is_found_where_it_stands():
    run = torch.from_numpy(FLAT[700:712].astype(np.int64))
    assert holds(FLAT, asked(run[None], None))
    assert holds(FLAT, asked(torch.stack([run, run.flip(0)]), None))
    assert not holds(FLAT, asked(run.flip(0)[None], None))
    assert not holds(np.zeros(4000, np.uint8), asked(torch.zeros(1, 12, dtype=torch.long), None))


def test_one_id_of_each_sample_is_found_by_their_places():
    places = tuple(range(5, 400, 7))
    ids = torch.from_numpy(FLAT[list(places)].astype(np.int64))
    assert holds(FLAT, asked(ids, places))
    assert not holds(FLAT, asked(ids.flip(0), places))
    assert not holds(FLAT, asked(ids, None))
    assert not holds(FLAT, asked(ids[:9], places[:9]))
    assert not holds(FLAT[:100], asked(ids, places))


@pytest.mark.parametrize("read", [1 << 22, 1024])
def test_what_occurs(monkeypatch, read):
    monkeypatch.setattr(stored_ids, "READ", read)
    occurs, count = occurring(np.tile(np.arange(200, dtype=np.uint8), 400), 255)
    assert occurs[:200].all() and not occurs[200:].any()
    assert count == min(read, 80_000)


class Texts:
    """A dataset with two parts in a dict."""

    def __init__(self):
        self.parts = {"train": FLAT.copy(), "names": ["a"]}


def test_the_arrays_of_a_dataset_and_of_running_functions():
    mine = FLAT.copy()
    dataset = Texts()
    found = {one.name: one for one in held(dataset)}
    assert {"Texts.parts['train']", "mine"} <= set(found)
    lines = {name: one.set_at() for name, one in found.items()}
    assert lines["Texts.parts['train']"].code.startswith("self.parts = {")
    assert lines["mine"].code == "mine = FLAT.copy()"
    assert len(mine) == 4000
