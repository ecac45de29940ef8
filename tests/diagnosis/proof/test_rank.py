"""Facts in, verdict out."""

from __future__ import annotations

from math import inf

import msgspec

from debugtracer import errors
from debugtracer.causes.cause import Cause, causes
from debugtracer.diagnosis.proof.rank import rank
from debugtracer.testing import TRAIN, a_birth, a_masked_row, a_tensor, some_facts
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.weights_at_rest import ValueChanged
from debugtracer.trace.incident import OptimizerFacts, ReplayFacts
from debugtracer.trace.step import StepRef


def test_a_masked_row_gives_the_whole_verdict():
    verdict = rank(a_masked_row())
    assert (verdict.kind, verdict.cause, verdict.status, verdict.layer) == (
        "masked_softmax_all_masked",
        "masked-softmax-all-masked",
        "likely",
        "numerics",
    )
    assert (verdict.file, verdict.line, verdict.symptom_line) == (TRAIN, 47, 81)
    assert (verdict.op, verdict.direction, verdict.module, verdict.phase) == (
        "aten::_softmax",
        "forward",
        "blocks.0.attn",
        "forward",
    )
    assert (verdict.batch_rows, verdict.sample_index, verdict.param) == ((31,), (931,), "embed.weight")
    assert [link.op for link in verdict.chain] == ["aten::_softmax", "aten::bmm", "aten::nll_loss_forward"]
    assert verdict.summary == (
        "step 48, rank 0: the loss is not finite because every score of a row is -inf (the mask leaves nothing) and "
        "softmax of such a row is NaN; "
        "dataset sample 931; edit train.py:47"
    )
    assert verdict.suspects == ()


def test_rows_that_a_collate_function_may_sort_name_no_sample_by_their_place():
    masked = a_masked_row()
    assert masked.loader is not None
    sorted_rows = msgspec.structs.replace(masked.loader, keeps_order=False)
    told = msgspec.structs.replace(masked, loader=sorted_rows, sample_index=None)
    assert (rank(told).batch_rows, rank(told).sample_index) == ((31,), None)
    assert rank(msgspec.structs.replace(told, sample_index=(907,))).sample_index == (907,)


def test_a_bad_batch_is_confirmed_has_no_op_and_points_where_it_met_the_loss():
    birth = a_birth(None, kind="input", direction="input", input_name="batch[0]", rows=(4, 7))
    verdict = rank(some_facts(birth))
    assert (verdict.kind, verdict.status, verdict.layer, verdict.phase) == (
        "data_nonfinite",
        "confirmed",
        "data",
        "load",
    )
    assert verdict.op is None
    assert verdict.module is None
    assert verdict.birth_kind == "input"
    assert (verdict.line, verdict.symptom_line) == (81, 81)
    assert verdict.sample_index == (904, 907)


def test_ignored_labels_blame_every_row_of_the_batch():
    inputs = a_tensor(-1.0, shape=(32, 9)), a_tensor(-100.0, shape=(32,), dtype="int64")
    verdict = rank(some_facts(a_birth("aten::nll_loss_forward", *inputs, kind="0/0", module=None)))
    assert (verdict.kind, verdict.status, verdict.phase) == ("labels_all_ignored", "confirmed", "loss")
    assert verdict.sample_index == tuple(range(900, 932))
    assert verdict.batch_rows == tuple(range(32))


def test_a_birth_in_the_update_points_at_the_constructor_of_the_optimizer():
    step = Frame(file=TRAIN, line=90, code="optimizer.step()")
    known = OptimizerFacts(kind="Adam", eps=1e-8, param_dtypes=("float16",), frame=Frame(file=TRAIN, line=28))
    birth = a_birth("aten::addcdiv", kind="0/0", direction="update", module=None, line=90)
    verdict = rank(
        some_facts(
            birth, symptom="bad_update", symptom_frame=step, optimizer=known, bad_params=("embed.weight", "head.bias")
        )
    )
    assert (verdict.kind, verdict.phase, verdict.line, verdict.symptom_line) == (
        "optimizer_eps_underflow",
        "update",
        28,
        90,
    )
    assert verdict.param == "embed.weight"


def test_a_derivative_names_the_forward_op_and_what_ran():
    birth = a_birth(
        "aten::sqrt", a_tensor(0.0), direction="backward", backward_op="aten::div", kind="domain", module=None
    )
    verdict = rank(some_facts(birth, symptom="inf_grad"))
    assert (verdict.kind, verdict.op, verdict.backward_op, verdict.phase, verdict.line) == (
        "backward_nan_op",
        "aten::sqrt",
        "aten::div",
        "backward",
        47,
    )


def test_a_cause_that_only_names_the_arithmetic_stands_alone_or_not_at_all():
    alone = rank(some_facts(a_birth("aten::sub", a_tensor(inf), a_tensor(inf), kind="inf-inf")))
    assert alone.kind == "indeterminate_form"
    assert alone.status == "possible"
    assert "indeterminate_form" not in [s.kind for s in rank(a_masked_row()).suspects]


def test_without_a_birth_it_says_unknown_and_which_way_of_replay_was_used():
    verdict = rank(
        some_facts(
            None, replay=ReplayFacts(mechanism="re-yield", reproduced=False, parity="not replayed: iterator is gone")
        )
    )
    assert (verdict.kind, verdict.cause, verdict.status, verdict.confidence) == (None, None, "unknown", 0.0)
    assert verdict.summary == (
        "step 48, rank 0: the loss is not finite; the cause is unknown: replay (re-yield) did not show the fault (not "
        "replayed: iterator is gone)"
    )
    assert verdict.remedy


def test_a_fault_that_does_not_come_back_is_a_suspicion_of_the_device_not_a_verdict():
    verdict = rank(some_facts(None, replay=ReplayFacts(mechanism="tape", reproduced=False, parity="not reproduced")))
    assert verdict.kind is None
    assert [s.kind for s in verdict.suspects] == ["silent_data_corruption"]


def test_nothing_was_executed_again():
    assert rank(some_facts(None, replay=None)).summary.endswith(
        "the step was not executed again, only the flight record is there"
    )


def test_one_class_is_named_once():
    kinds = [
        s.kind
        for s in rank(
            some_facts(a_birth("aten::div", a_tensor(0.0), a_tensor(0.0), kind="0/0", code="z = z / z.norm()"))
        ).suspects
    ]
    assert kinds == ["zero_division"]


def test_a_division_in_an_optimizer_that_the_user_wrote_points_at_its_own_line():
    step, built = Frame(file=TRAIN, line=90, code="optimizer.step()"), Frame(file=TRAIN, line=70)
    birth = a_birth(
        "aten::div",
        a_tensor(0.0),
        a_tensor(0.0),
        kind="0/0",
        direction="update",
        line=12,
        code="direction = p.grad / total",
        module=None,
    )
    verdict = rank(
        some_facts(
            birth, symptom="bad_update", symptom_frame=step, optimizer=OptimizerFacts(kind="Normalised", frame=built)
        )
    )
    assert (verdict.kind, verdict.line, verdict.symptom_line) == ("zero_division", 12, 90)


def test_a_note_of_the_facts_is_the_reason_of_not_knowing():
    assert rank(some_facts(None, note="the bad value came from another rank")).summary.endswith(
        "the cause is unknown: the bad value came from another rank"
    )


def test_a_cause_that_fails_is_counted_and_the_others_are_asked(monkeypatch):
    class Broken(Cause):
        kind = "full_moon"

        def evidence_from_incident(self, incident):
            raise KeyError("tide")

    monkeypatch.delenv("DEBUG_TRACER_STRICT")
    monkeypatch.setattr(errors, "failures", {})
    monkeypatch.setattr("debugtracer.diagnosis.proof.rank.causes", lambda: {"broken": Broken(), **causes()})
    assert rank(a_masked_row()).kind == "masked_softmax_all_masked"
    assert list(errors.failures) == ["cause broken"]


def test_a_value_that_changed_in_memory_is_named_where_it_lies_not_where_it_was_met():
    changed = ValueChanged(
        ref=StepRef(iteration=47, step=48), param="up.weight", what="parameter", index=(3, 7), before=0.037,
        after=1.3e37, rms=0.09, bits=1, bit=30, width=32, written=False,
    )  # fmt: skip
    verdict = rank(some_facts(a_birth("aten::native_layer_norm"), changed=changed))
    assert (verdict.kind, verdict.param, verdict.module) == ("silent_data_corruption", "up.weight", "up")


def test_an_op_inside_a_library_is_the_symptom_and_what_the_user_s_line_hands_over_is_the_remedy():
    inside = Frame("/env/lib/python3.11/site-packages/pytorch_metric/losses/angle.py", 24, "distance", "torch.log(x)")
    verdict = rank(some_facts(a_birth("aten::log", a_tensor(0.0), library=inside)))
    assert (verdict.file, verdict.line) == (TRAIN, 47)
    assert verdict.remedy[0] == (
        "change what train.py:47 hands over: the op runs in pytorch_metric (angle.py:24), which is not yours to edit"
    )
    assert rank(some_facts(a_birth("aten::log", a_tensor(0.0)))).remedy == verdict.remedy[1:]
