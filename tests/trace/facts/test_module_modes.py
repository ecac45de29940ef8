"""The modes of a root as a value."""

from __future__ import annotations

from debugtracer.trace.facts.module_modes import ModuleModes
from debugtracer.trace.step import StepRef


def test_each_root_is_news_of_its_own():
    ref = StepRef(iteration=0, step=0)
    assert (
        ModuleModes(ref=ref, root="Net", total=2, training=2).key()
        != ModuleModes(ref=ref, root="Critic 1", total=2, training=2).key()
    )
