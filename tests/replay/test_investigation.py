"""What an investigation found, and whether the batch is asked for once more."""

from __future__ import annotations

import pytest

from debugtracer.replay.investigation import Investigation
from debugtracer.trace.birth import Birth
from debugtracer.trace.incident import Mechanism, ReplayFacts

BORN = Birth(op="aten::std", direction="forward", kind="0/0")


@pytest.mark.parametrize(
    ("mechanism", "birth", "is_final"),
    [
        ("tape", None, True),
        ("forward-only", BORN, True),
        ("forward-only", None, False),
        ("lines", BORN, False),
        ("flight-record", None, False),
    ],
)
def test_it_is_final(mechanism: Mechanism, birth: Birth | None, is_final: bool):
    replay = ReplayFacts(mechanism=mechanism, reproduced=birth is not None, parity="anomaly only")
    assert Investigation(replay, birth).is_final is is_final
