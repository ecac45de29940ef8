"""The confidence that is said."""

import pytest

from debugtracer.trace import calibration


@pytest.fixture
def measured(monkeypatch):
    monkeypatch.setattr(calibration, "frequencies", lambda: {"confirmed-proved": 0.99, "likely": 0.8})


def test_what_was_measured_is_said_and_never_more_than_the_ceiling(measured):
    assert calibration.calibrated("likely", False, 0.95, None) == 0.8
    assert calibration.calibrated("confirmed", True, 0.5, "log_domain") == calibration.MOST


def test_a_kind_never_seen_keeps_its_belief(measured):
    assert calibration.calibrated("possible", False, 0.4567, None) == 0.457


def test_word_and_number_go_together(monkeypatch):
    monkeypatch.setattr(
        calibration, "frequencies", lambda: {"possible": 0.92, "likely": 0.5, "unknown": 0.6, "confirmed": 0.7}
    )
    said = {status: calibration.calibrated(status, False, 0.5, None) for status in calibration.RANGES}
    assert said == {"confirmed": 0.9, "likely": 0.7, "possible": 0.69, "unknown": 0.39}


def test_the_file_holds_shares():
    assert all(0 < share < 1 for share in calibration.frequencies().values())


def test_classes_that_the_course_of_the_loss_suggests_are_measured_apart(monkeypatch):
    monkeypatch.setattr(
        calibration, "frequencies", lambda: {"possible": 0.6, "possible-course": 0.45, "likely-proved-course": 0.9}
    )
    assert calibration.calibrated("possible", False, 0.5, "loss_spike") == 0.45
    assert calibration.calibrated("possible", False, 0.5, "zero_division") == 0.6
    assert calibration.calibrated("likely", True, 0.8, "lr_too_high") == 0.9
