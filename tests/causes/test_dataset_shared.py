"""Two parts of the data share one dataset and its settings."""

from __future__ import annotations

from tests.causes.listening import hears, is_silent, told


def test_hears_a_setting_of_another_part() -> None:
    finding = told("data/setting-shared")
    evidence = hears("dataset-shared", finding)
    assert evidence.leading == finding
    assert evidence.remedies[0].startswith("make the dataset once for each part")


def test_is_silent_without_a_finding_of_its_class() -> None:
    assert is_silent("dataset-shared", told("data/loader-bound"))
