"""Facts about the facts of an incident."""

import msgspec
import pytest

from debugtracer.trace.incident import IncidentFacts, LoaderFacts, ReplayFacts
from debugtracer.trace.step import StepRef

FACTS = IncidentFacts(
    ref=StepRef(iteration=4, step=2),
    symptom="nan_loss",
    loss="NaN",
    loader=LoaderFacts(dataset="D", indices=(3, 1)),
    replay=ReplayFacts(mechanism="tape", reproduced=True, parity="bitwise"),
    recent={"loss": [1.0, "Infinity"]},
)


def test_they_survive_json_whole() -> None:
    assert msgspec.json.decode(msgspec.json.encode(FACTS), type=IncidentFacts) == FACTS


def test_an_unknown_symptom_is_refused() -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({"ref": {"iteration": 0, "step": 0}, "symptom": "headache"}, IncidentFacts)


def test_two_incidents_do_not_share_their_history() -> None:
    one, other = (IncidentFacts(ref=FACTS.ref, symptom="crash") for _ in range(2))
    one.recent["loss"] = [1.0]
    assert other.recent == {}
