"""Channels in another order."""

from __future__ import annotations

import msgspec

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.channel_order import ChannelOrder
from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.step import StepRef

MADE = Frame("/p/data.py", 39, "__getitem__", "return torch.from_numpy(frame)")


def swapped(**known: object) -> ChannelOrder:
    """The first and the third colour."""
    given = {"root": "Net", "pictures": True, "frame": MADE, "called": None} | known
    return ChannelOrder(
        ref=StepRef(iteration=9, step=9), channels=3, places=(0, 2), alike=(2, 0), trained=(0.63, 0.21),
        evaluated=(0.21, 0.63), apart=4.0, left=0.1, samples=(96, 160), **given,  # type: ignore[arg-type]
    )  # fmt: skip


def test_it_survives_json() -> None:
    fact = swapped()
    assert from_plain(fact.word(), msgspec.json.decode(msgspec.json.encode(to_plain(fact)))) == fact


def test_each_model_is_a_fact_of_its_own() -> None:
    assert swapped().key() == swapped(frame=None).key()
    assert swapped().key() != swapped(root="Other").key()
