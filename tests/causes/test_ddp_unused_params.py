"""Parameters got no gradient in an iteration of DDP."""

from __future__ import annotations

from tests.causes.listening import change, guess, hears, is_silent, told


def test_hears_unfinished_reduction():
    finding = told("device/unfinished-reduction")
    evidence = hears("ddp-unused-params", finding)
    assert evidence.leading == finding
    assert evidence.exact is True
    assert evidence.remedies[0].startswith("let every output of the ")


def test_what_else_was_seen_counts():
    finding = guess(told("device/unfinished-reduction"))
    alone = hears("ddp-unused-params", finding).confidence
    assert hears("ddp-unused-params", finding, told("model/unused-param")).confidence > alone


def test_is_silent_without_a_finding_of_its_class():
    assert is_silent("ddp-unused-params", told("data/loader-bound"), told("model/unused-param"))


def test_the_change_is_made_at_the_line():
    assert change("ddp-unused-params", "model = DistributedDataParallel(model)") == (
        "model = DistributedDataParallel(model, find_unused_parameters=True)",
    )
    assert change("ddp-unused-params", "pass") is None
