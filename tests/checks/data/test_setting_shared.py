"""What is said of a setting that replaces that of another part."""

from __future__ import annotations

from debugtracer.checks.data.setting_shared import SettingShared
from tests.checks.optimizer.seen import found
from tests.trace.facts.test_shared_setting import shared


def test_both_lines_are_named() -> None:
    fact = shared()
    (finding,) = found(SettingShared(), [fact])
    assert (finding.severity, finding.kind, finding.place.frame) == ("warning", "dataset_shared", fact.last)
    assert finding.message == (
        "step 0, rank 0: `transform` of Tiles is set for two parts (train.py:31, train.py:32), and both parts hold the "
        "same Tiles, so it is Plain for both; expected a setting of its own for each. Make the dataset once for each "
        "part."
    )


def test_stays_silent_without_a_fact() -> None:
    assert not found(SettingShared(), [])
