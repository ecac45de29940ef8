"""An alert is for the run that it names, only while it fires, only with the label, and once."""

from __future__ import annotations

import pytest

from debugtracer.errors import UsageError
from debugtracer.telemetry.alert import LABEL, Alert, AlertGroup, ObeyedAlerts


def group(*alerts: Alert) -> AlertGroup:
    return AlertGroup(alerts=alerts)


def asks(word: str, status: str = "firing", mark: str = "f", since: str = "1", **labels: str) -> Alert:
    return Alert(status, {LABEL: word, **labels}, mark, since)


@pytest.mark.parametrize(
    ("alerts", "word"),
    [
        ([asks("pause")], "pause"),
        ([asks("resume"), asks("stop", mark="g"), asks("pause", mark="h")], "stop"),
        ([asks("pause", run="a")], "pause"),
        ([asks("pause", run="another")], ""),
        ([asks("pause", status="resolved")], ""),
        ([Alert("firing", {"severity": "critical"})], ""),
        ([], ""),
    ],
)
def test_what_it_asks_for(alerts: list[Alert], word: str) -> None:
    assert ObeyedAlerts().word(group(*alerts), "a")[0] == word


def test_one_that_fires_on_is_obeyed_once() -> None:
    obeyed = ObeyedAlerts()
    first = asks("pause")
    assert obeyed.word(group(first), "a")[0] == "pause"  # and again, as long as the run was not told
    word, asking = obeyed.word(group(first), "a")
    obeyed.obeyed(asking)
    assert word == "pause" and obeyed.word(group(first), "a")[0] == ""
    assert obeyed.word(group(asks("pause", since="2")), "a")[0] == "pause"
    assert obeyed.word(group(Alert("firing", {LABEL: "stop"})), "a")[0] == "stop"


def test_a_word_that_is_none_is_refused() -> None:
    with pytest.raises(UsageError, match=r"'explode'.*expected one of stop, pause, resume"):
        ObeyedAlerts().word(group(asks("explode")), "a")
