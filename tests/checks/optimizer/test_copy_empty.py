"""Copies that begin without the values of what they are copies of."""

from __future__ import annotations

from debugtracer.checks.optimizer.copy_empty import CopyEmpty
from debugtracer.trace.facts.fresh_start import FreshStart
from tests.checks.optimizer.seen import at, found, line


def a_start(**more):
    return FreshStart(ref=at(5), kind="SGD", updates=2, networks=2, near=0.042, frame=line(48), **more)


def test_networks_that_begin_anew():
    (finding,) = found(CopyEmpty(), [a_start(original=line(47), made=line(21))])
    assert (finding.severity, finding.kind, finding.place.frame) == ("warning", "average_not_updated", line(21))
    assert finding.message == (
        "step 5, rank 0: SGD (train.py:48) updates the network of train.py:47, no forward reads it, and 2 networks of "
        "its shapes, made since at train.py:21, begin without its values (cosine at most 0.042); expected copies of "
        "it. Load its values: new.load_state_dict(old.state_dict())."
    )


def test_lines_that_are_not_known_are_left_out():
    (finding,) = found(CopyEmpty(), [a_start()])
    assert (
        "updates a network, no forward reads it, and 2 networks of its shapes that were made since" in finding.message
    )
    assert finding.place.frame == line(48)
