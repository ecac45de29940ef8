"""Facts about a finding as written."""

from typing import get_args

import msgspec
import pytest

from debugtracer.trace.finding import LAYERS, Finding, Layer


def test_every_layer_is_listed_once() -> None:
    assert get_args(Layer) == LAYERS
    assert len(set(LAYERS)) == len(LAYERS)


def test_evidence_keeps_a_nan_through_json() -> None:
    finding = Finding(
        check="numerics/x",
        layer="numerics",
        severity="error",
        iteration=1,
        step=1,
        message="m",
        evidence={"loss": "NaN"},
    )
    assert msgspec.json.decode(msgspec.json.encode(finding), type=Finding) == finding


def test_a_finding_is_keyword_only() -> None:
    with pytest.raises(TypeError):
        Finding("numerics/x")  # type: ignore[call-arg, misc]
