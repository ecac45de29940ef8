"""Steps wait for data."""

from __future__ import annotations

from tests.causes.listening import guess, hears, is_silent, told


def test_hears_loader_bound():
    finding = told("data/loader-bound")
    evidence = hears("slow-dataloader", finding)
    assert evidence.leading == finding
    assert evidence.exact is False
    assert evidence.remedies[0].startswith("DataLoader(..., num_work")


def test_what_else_was_seen_counts():
    finding = guess(told("data/loader-bound"))
    alone = hears("slow-dataloader", finding).confidence
    assert hears("slow-dataloader", finding, told("data/padding-waste")).confidence == alone  # the same family
    against = told("device/host-sync")
    assert hears("slow-dataloader", finding, against).confidence < alone
    assert hears("slow-dataloader", finding, against).against == (against.message,)


def test_is_silent_without_a_finding_of_its_class():
    assert is_silent("slow-dataloader", told("model/dead-units"), told("data/padding-waste"))
