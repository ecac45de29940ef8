"""References of ours beside the program's."""

from __future__ import annotations

import weakref

import torch

from debugtracer.recorder.state.weak import UnnoticedWeakref, WeakRef


def test_it_dies_with_its_object_and_calls_back():
    gone = []
    value = torch.ones(1)
    reference = WeakRef(value, gone.append)
    assert reference() is value
    del value
    assert reference() is None
    assert gone == [reference]


def test_only_references_of_the_program_are_told():
    value = torch.ones(1)
    ours, theirs = WeakRef(value), weakref.ref(value)
    assert UnnoticedWeakref().getweakrefs(value) == [theirs]
    assert len(weakref.getweakrefs(value)) == 2
    assert ours() is theirs()


def test_the_rest_of_the_module_is_the_modules_own():
    assert UnnoticedWeakref().WeakKeyDictionary is weakref.WeakKeyDictionary
