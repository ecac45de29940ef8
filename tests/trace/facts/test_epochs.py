"""Passes as values."""

from __future__ import annotations

from debugtracer.trace.facts.epochs import HEAD, Epoch, Overlap, Restart
from debugtracer.trace.facts.fact import from_plain, to_plain
from tests.checks.data.passes import a_pass
from tests.checks.windows import ref


def test_each_loader_counts_its_own_passes():
    assert a_pass(0).key() == a_pass(1).key() == 0
    assert a_pass(0, loader=1).key() == 1
    assert Epoch.KEEP >= HEAD


def test_a_pass_survives_the_disk():
    assert from_plain("epochs/Epoch", to_plain(a_pass(3))) == a_pass(3)


def test_overlaps_and_restarts_are_news_per_loader():
    assert Overlap(ref=ref(), loader=2, frame=None, train_frame=None, shared=1, rows=2, how="content").key() == (
        2,
        "content",
    )
    assert Restart(ref=ref(), loader=2, frame=None, first=5, count=10, asked=1, batches=None).key() == (2, 5)
