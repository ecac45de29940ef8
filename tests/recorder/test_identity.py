"""Entries belong to objects, not to what these say they are equal to."""

from __future__ import annotations

import gc

import pytest

from debugtracer.recorder.identity import ById


class Picky:
    __hash__ = None

    def __eq__(self, other):
        raise TypeError


def test_a_key_is_the_object_itself_and_neither_compared_nor_hashed():
    a, b, kept = Picky(), Picky(), ById()
    kept[a], kept[b] = 1, 2
    kept[a] = 3
    assert (kept[a], kept.get(b), kept.get(Picky()), kept.get(Picky(), 7), len(kept)) == (3, 2, None, 7, 2)
    assert a in kept
    assert Picky() not in kept
    assert [key is one for key, one in zip(kept, (a, b), strict=True)] == [True, True]
    assert [value for _, value in kept.items()] == [3, 2]


def test_an_entry_goes_with_its_key_or_is_taken_out():
    a, b, kept = Picky(), Picky(), ById()
    kept[a], kept[b] = 1, 2
    del a
    gc.collect()
    assert len(kept) == 1
    assert kept.pop(b) == 2
    assert kept.setdefault(b, 4) == 4
    del kept[b]
    with pytest.raises(KeyError):
        kept[b]
    kept[b] = 1
    kept.clear()
    assert len(kept) == 0


def test_an_address_used_again_is_another_object():
    kept = ById()
    a = Picky()
    kept[a] = 1
    reference, value = kept.data.pop(id(a))
    b = Picky()
    kept.data[id(b)] = reference, value  # as if a had died unnoticed and b had got its address
    assert b not in kept
    assert kept.get(b) is None
