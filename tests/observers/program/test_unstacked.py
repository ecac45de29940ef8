"""Samples by shape."""

from __future__ import annotations

import torch

from debugtracer.callsites.crash_site import CrashSite
from debugtracer.observers.program.unstacked import fetched_again, samples_seen, shapes


def test_parts_are_named_as_a_person_would_reach_them():
    assert list(shapes({"x": torch.zeros(2, 3), "y": [1, 2], "z": None})) == [
        ("sample", "keys x, y, z"),
        ("sample['x']", "(2, 3) float32"),
        ("sample['y']", "list of 2"),
        ("sample['z']", "NoneType"),
    ]
    assert list(shapes((torch.zeros(1), 3))) == [
        ("sample", "tuple of 2"),
        ("sample[0]", "(1,) float32"),
        ("sample[1]", "int"),
    ]


def test_samples_of_the_fetch_go_with_their_indices():
    site = CrashSite(samples=[torch.zeros(2), torch.zeros(3)], indices=[7, 9], torch_calls=["collate_tensor_fn"])
    assert [(s.index, s.shapes) for s in samples_seen(site, None, None)] == [
        (7, (("sample", "(2,) float32"),)),
        (9, (("sample", "(3,) float32"),)),
    ]


def test_another_failure_of_a_fetch_is_not_read_again():
    assert samples_seen(CrashSite(torch_calls=["fetch"]), (1, 2), None) == ()
    assert fetched_again(None, [0]) == []
