"""Rows of boxes that lost their order, as a value."""

from __future__ import annotations

from typing import Any

import msgspec

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.batch_content import LoaderNote
from debugtracer.trace.facts.box_edges import BoxEdges
from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.step import StepRef


def edges(path: str = "batch[1]", **more: Any) -> BoxEdges:
    note = LoaderNote(
        number=0, dataset="Plates", dataset_len=960, batches=30, batch_size=32, num_workers=0, sampler="RandomSampler"
    )
    known: dict[str, Any] = {"low": 0, "rows": 200, "broken": 90, "size": 0.29, "broken_size": 0.28, "fetched": 8}
    known |= {"samples": (7, 2), "breaks": True, "frame": Frame("/x/data.py", 32, "hflip", ""), **more}
    return BoxEdges(ref=StepRef(iteration=3, step=3), loader=note, path=path, **known)


def test_it_survives_json():
    plain = msgspec.json.decode(msgspec.json.encode(to_plain(edges())))
    assert from_plain(BoxEdges.word(), plain) == edges()


def test_each_tensor_is_news():
    assert edges().key() == edges(rows=400).key() != edges("batch[2]").key()
