"""Facts about a verdict as written."""

import msgspec

from debugtracer.trace.verdict import Suspect, Trial, Verdict


def test_kind_is_called_class_in_json() -> None:
    verdict = Verdict(
        kind="log-domain",
        cause="c",
        symptom="nan_loss",
        layer="numerics",
        iteration=1,
        step=1,
        suspects=(Suspect(kind="k", cause="c", confidence=0.2, status="possible"),),
    )
    raw = msgspec.json.decode(msgspec.json.encode(verdict))
    assert (raw["class"], raw["suspects"][0]["class"]) == ("log-domain", "k")
    assert "kind" not in raw


def test_it_comes_back_whole() -> None:
    verdict = Verdict(
        kind=None,
        cause=None,
        symptom="crash",
        layer="model",
        iteration=1,
        step=0,
        trials=(Trial(intervention="stable-op", outcome="healed"),),
    )
    assert msgspec.json.decode(msgspec.json.encode(verdict), type=Verdict) == verdict


def test_a_verdict_claims_nothing_by_default() -> None:
    verdict = Verdict(kind=None, cause=None, symptom="crash", layer="model", iteration=1, step=0)
    assert (verdict.status, verdict.confidence) == ("unknown", 0.0)
