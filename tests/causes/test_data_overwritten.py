"""Fetching a sample changes the data that it is fetched from."""

from __future__ import annotations

from debugtracer.checks.data.fetch_writes import FetchWrites
from tests.causes.listening import hears, is_silent, told


def test_uses_the_finding_of_its_check():
    finding = told("data/fetch-writes")
    evidence = hears("data-overwritten", finding)
    assert evidence.leading == finding
    assert evidence.remedies == FetchWrites.remedies


def test_is_silent_without_a_finding_of_its_class():
    assert is_silent("data-overwritten", told("data/loader-bound"), told("data/rows-left-out"))
