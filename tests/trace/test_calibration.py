"""The confidence that is said."""

import pytest

from debugtracer.trace import calibration


@pytest.fixture
def measured(monkeypatch):
    monkeypatch.setattr(calibration, "frequencies", lambda: {"confirmed-proved": 0.99, "likely": 0.8})


def test_what_was_measured_is_said_and_never_more_than_the_ceiling(measured):
    assert calibration.calibrated("likely", False, 0.95) == 0.8
    assert calibration.calibrated("confirmed", True, 0.5) == calibration.MOST


def test_a_kind_never_seen_keeps_its_belief(measured):
    assert calibration.calibrated("possible", False, 0.4567) == 0.457


def test_word_and_number_go_together(monkeypatch):
    monkeypatch.setattr(calibration, "frequencies", lambda: {"possible": 0.92, "likely": 0.5, "unknown": 0.6, "confirmed": 0.7})
    said = {status: calibration.calibrated(status, False, 0.5) for status in calibration.RANGES}
    assert said == {"confirmed": 0.9, "likely": 0.7, "possible": 0.69, "unknown": 0.39}


def test_the_file_holds_shares():
    assert all(0 < share < 1 for share in calibration.frequencies().values())
