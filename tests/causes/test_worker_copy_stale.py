"""Workers with an old copy of the dataset."""

from __future__ import annotations

from debugtracer.checks.data.worker_copy_stale import WorkerCopyStale
from tests.causes.listening import hears, is_silent, told


def test_uses_the_finding_of_its_check():
    finding = told("data/worker-copy-stale")
    evidence = hears("worker-copy-stale", finding)
    assert evidence.leading == finding
    assert evidence.remedies == WorkerCopyStale.remedies


def test_is_silent_without_a_finding_of_its_class():
    assert is_silent("worker-copy-stale", told("data/loader-bound"), told("optimizer/validation-gap"))
