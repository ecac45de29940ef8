"""A checkpoint file is damaged."""

from __future__ import annotations

from tests.causes.listening import hears, is_silent, told


def test_hears_file_corrupt():
    finding = told("rollback/file-corrupt")
    signs = hears("ckpt-corrupt", finding)
    assert signs.leading == finding
    assert signs.exact is True
    assert signs.remedies[0].startswith("load another checkpoint;")


def test_is_silent_without_a_finding_of_its_class():
    assert is_silent("ckpt-corrupt", told("data/loader-bound"))
