"""A batch named where the growth began."""

import msgspec

from debugtracer.diagnosis.onset import began
from debugtracer.diagnosis.proof.rank import rank
from debugtracer.testing import a_birth, a_tensor, some_facts
from debugtracer.trace.birth import Frame
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.verdict import Trial

OVERFLOW = a_birth("aten::mse_loss", a_tensor(1e30), output=a_tensor(inf=1), kind="overflow")


def facts(*losses):
    return some_facts(OVERFLOW, recent={"loss": list(losses)})


def unlike(step, **more):
    known = {"severity": "warning", "kind": "data_hard_samples", "confidence": 0.85}
    return Finding(
        check="data/hard-samples",
        layer="data",
        iteration=step,
        step=step,
        message="step 46: a batch unlike all",
        remedy=("filter",),
        **known | more,
    )


def test_a_data_finding_at_the_onset_leads_and_the_growth_is_its_consequence():
    seen = facts(0.26, 0.33, 0.22, 3e7, 4e23)
    verdict = began(seen, rank(seen), [unlike(46)])
    assert (verdict.kind, verdict.status, verdict.change) == ("data_hard_samples", "likely", None)
    assert verdict.suspects[0].kind == "lr_too_high"
    assert verdict.remedy[0] == "filter"
    assert "values grew from step 46 on until they overflowed because step 46: a batch unlike all" in verdict.summary
    assert "the trials are of step 48" in verdict.evidence[0]


def test_a_note_one_of_another_step_and_one_of_another_layer_do_not():
    seen = facts(0.26, 0.33, 0.22, 3e7, 4e23)
    plain = rank(seen)
    assert plain.kind == "lr_too_high"
    for finding in (unlike(46, severity="note"), unlike(45), unlike(47), unlike(30), unlike(46, rank=1)):
        assert began(seen, plain, [finding]) == plain


def test_another_cause_stays():
    seen = some_facts(a_birth("aten::log", a_tensor(0.0), kind="domain"))
    assert began(seen, rank(seen), [unlike(46)]) == rank(seen)


def changed(step, **more):
    known = {"kind": "silent_data_corruption", "exact": True, "confidence": 0.9}
    return Finding(
        check="device/weight-mutation",
        layer="device",
        severity="error",
        iteration=step,
        step=step,
        message="0.weight[7, 3] changed from 0.26 to 8.9e+37",
        remedy=("restore a checkpoint from before this step",),
        place=Place(param="0.weight", module="0"),
        **known | more,
    )


def test_a_value_that_the_machine_changed_leads_names_the_element_and_no_line():
    seen = facts(0.24, 0.26, 0.33, 0.22, 3e7, 4e23)
    plain = rank(seen)
    verdict = began(seen, plain, [changed(46)])
    assert (verdict.kind, verdict.status, verdict.param) == ("silent_data_corruption", "confirmed", "0.weight")
    assert (verdict.file, verdict.line, verdict.op, verdict.change) == (None, None, None, None)
    assert verdict.remedy == ("restore a checkpoint from before this step",)
    assert verdict.suspects[0].kind == plain.kind
    assert began(seen, plain, [changed(45)]).param == "0.weight"  # seen before an update: the next loss shows it


def test_a_changed_value_that_is_no_proof_or_long_ago_does_not_lead():
    seen = facts(0.24, 0.26, 0.33, 0.22, 3e7, 4e23)
    plain = rank(seen)
    assert began(seen, plain, [changed(46, exact=False)]) == plain
    assert began(seen, plain, [changed(44)]) == plain


def clip(**more):
    known = {"kind": "clip_misplaced", "exact": True, "severity": "warning", "iteration": 0}
    return Finding(
        check="optimizer/clip-after-step",
        layer="optimizer",
        step=0,
        message="step 0, rank 0: the clip comes before the backward",
        place=Place(frame=Frame(file="train.py", line=115, function="main")),
        remedy=("clip between",),
        **known | more,
    )


def unknown(*losses):
    return some_facts(None, recent={"loss": list(losses)})


def test_a_line_that_let_the_updates_grow_leads_over_an_unknown_cause():
    seen = unknown(204.0, 1.8e22)
    plain = rank(seen)
    assert plain.kind is None
    verdict = began(seen, plain, [clip()])
    assert (verdict.kind, verdict.status, verdict.line) == ("clip_misplaced", "likely", 115)
    assert "the updates from step 0 on had thrown" in verdict.evidence[0]


def test_such_a_line_does_not_lead_where_nothing_grew_or_it_was_seen_later_or_is_another_fault():
    calm = unknown(2.04, 1.9, 1.8)
    assert began(calm, rank(calm), [clip()]) == rank(calm)
    grown = unknown(204.0, 1.8e22)
    later = clip(iteration=grown.ref.iteration + 1)
    for finding in (later, clip(kind="step_missing"), clip(exact=False, confidence=0.5)):
        assert began(grown, rank(grown), [finding]) == rank(grown)


def test_such_a_line_does_not_lead_where_the_step_fails_with_older_weights_as_well():
    grown = unknown(204.0, 1.8e22)
    older = Trial(intervention="older-weights=1", outcome="not healed")
    tried = msgspec.structs.replace(rank(grown), trials=(older,))
    assert began(grown, tried, [clip()]) == tried
    for other in (
        msgspec.structs.replace(older, outcome="healed"),
        Trial(intervention="lower-lr=10", outcome="not healed"),
    ):
        assert began(grown, msgspec.structs.replace(tried, trials=(other,)), [clip()]).kind == "clip_misplaced"


def wrong(derivative, backward, **more):
    known = {"kind": "custom_backward_wrong", "confidence": 0.85, "iteration": 0, "severity": "warning"}
    return Finding(
        check="model/wrong-derivative",
        layer="model",
        step=0,
        message=f"step 0, rank 0: backward of Pull is wrong ({backward} against {derivative})",
        place=Place(frame=Frame(file="pull.py", line=45, function="backward")),
        remedy=("gradcheck",),
        evidence={"derivative": derivative, "backward": backward},
        **known | more,
    )


def possible(*losses):
    seen = facts(*losses)
    return seen, msgspec.structs.replace(rank(seen), status="possible", confidence=0.42)


def test_a_derivative_that_climbs_leads_over_a_rate_that_is_possible_and_says_it_too():
    seen, plain = possible(3.2, 9.6, 113.0, 8.7e5, 6e31)
    verdict = began(seen, plain, [wrong(0.135, -0.135)])
    assert (verdict.kind, verdict.status, verdict.file, verdict.line) == (
        "custom_backward_wrong",
        "likely",
        "pull.py",
        45,
    )
    assert [s.kind for s in verdict.suspects][:1] == ["lr_too_high"]
    assert "the updates from step 0 on had thrown" in verdict.evidence[0]
    assert verdict.evidence[1] == "also possible: lr_too_high (confidence 0.42)"
    assert began(seen, plain, [wrong(0.1, 0.9)]).kind == "custom_backward_wrong"


def test_a_derivative_that_is_too_small_a_likely_rate_and_one_that_is_seen_later_do_not():
    seen, plain = possible(3.2, 9.6, 113.0, 8.7e5, 6e31)
    later = wrong(0.1, -0.1, iteration=seen.ref.iteration)
    for finding in (wrong(0.4, 0.2), wrong(0.4, 0.4), later, wrong(0.1, -0.1, severity="note")):
        assert began(seen, plain, [finding]) == plain
    sure = msgspec.structs.replace(plain, status="likely", confidence=0.8)
    assert began(seen, sure, [wrong(0.1, -0.1)]) == sure


def test_a_rate_that_a_line_raised_lately_leads_and_one_of_long_ago_does_not():
    seen, plain = possible(3.2, 9.6, 113.0, 8.7e5, 6e31)
    at = seen.ref.iteration
    raised = clip(kind="scheduler_misuse", exact=False, confidence=0.85, iteration=at - 20)
    raised = msgspec.structs.replace(raised, check="optimizer/schedule-restarted")
    assert began(seen, plain, [raised]).kind == "scheduler_misuse"
    assert began(seen, plain, [msgspec.structs.replace(raised, iteration=at)]) == plain
    assert began(seen, plain, [msgspec.structs.replace(raised, check="optimizer/rate-kept")]) == plain
    large = wrong(0, 0, kind="data_unnormalised", iteration=at - 20)
    assert began(seen, plain, [large]).kind == "data_unnormalised"
