"""A checkpoint file is damaged."""

from __future__ import annotations

from tests.causes.listening import hears, is_silent, told


def test_hears_file_corrupt():
    finding = told("rollback/file-corrupt")
    evidence = hears("ckpt-corrupt", finding)
    assert evidence.leading == finding
    assert evidence.exact is True
    assert evidence.remedies[0].startswith("load another checkpoint;")


def test_is_silent_without_a_finding_of_its_class():
    assert is_silent("ckpt-corrupt", told("data/loader-bound"))
