"""The sentences of a verdict, word for word."""

from __future__ import annotations

import msgspec
import pytest

from debugtracer.diagnosis.proof.rank import rank
from debugtracer.testing import TRAIN, a_birth, a_masked_row, a_tensor, some_facts
from debugtracer.trace.birth import ChainLink, Frame
from debugtracer.trace.events import Acted
from debugtracer.trace.incident import LoaderFacts, OptimizerFacts
from debugtracer.trace.step import StepRef
from debugtracer.trace.whole_dataset import WholeDataset
from debugtracer.views.words import wording


def told(facts, part):
    return [text for _, text, _ in part(facts, rank(facts))]


@pytest.mark.parametrize(
    ("numbers", "text"),
    [
        ((3,), "3"),
        ((3, 7), "3, 7"),
        (tuple(range(32)), "0-31"),
        (tuple(range(0, 40, 2)), "0, 2, 4, 6, 8, 10, 12, 14 and 12 more"),
    ],
)
def test_rows_are_listed_short(numbers, text):
    assert wording.listed(numbers) == text


def test_a_tensor_is_told_by_counts_range_and_values_at_the_bad_places():
    assert wording.tensor(a_tensor(-2.0, 3.0, shape=(4, 3), nan=2, neginf=1), "input 0") == (
        "input 0 float32 [4, 3]: 2 of 12 NaN, 1 of 12 -inf; finite -2 .. 3; there: -2, 3"
    )
    assert wording.tensor(a_tensor(shape=(2,))) == "float32 [2]: finite"


def test_a_long_way_shows_its_ends():
    links = tuple(
        ChainLink(op=f"aten::op{n}", direction="backward" if n > 7 else "forward", nan=1, numel=4) for n in range(9)
    )
    assert wording.chain(links) == [
        "op0: 1 of 4 NaN",
        "-> op1: 1 of 4 NaN",
        "-> op2: 1 of 4 NaN",
        "... 4 ops between",
        "-> op7: 1 of 4 NaN",
        "-> op8 (backward): 1 of 4 NaN",
    ]


def test_a_derivative_tells_both_ops():
    facts = some_facts(
        a_birth("aten::sqrt", a_tensor(0.0), direction="backward", backward_op="aten::div", module=""),
        symptom="inf_grad",
    )
    assert "aten::sqrt, backward, module (root), ran aten::div" in told(facts, wording.where)


def test_accumulation_tells_the_backward_call_beside_the_step():
    facts = some_facts(a_birth("aten::log", a_tensor(0.0)), loss=None)
    moved = facts.__class__(
        **{
            **{f: getattr(facts, f) for f in facts.__struct_fields__},
            "ref": StepRef(iteration=18, step=4, microbatch=2),
        }
    )
    assert told(moved, wording.since)[0] == "step 4 (backward call 18)"
    assert wording.title(moved, rank(moved)) == "debug-tracer: the loss is not finite at step 4, microbatch 2, rank 0"


def test_a_fault_in_the_update_shows_the_settings_of_the_optimizer():
    known = OptimizerFacts(kind="Adam", lr=1e-3, eps=1e-8, param_dtypes=("float16",), frame=Frame(file=TRAIN, line=28))
    facts = some_facts(a_birth("aten::addcdiv", direction="update", kind="0/0"), symptom="bad_update", optimizer=known)
    assert ("optim", "Adam, lr 0.001, eps 1e-08, parameters float16", "") in wording.seen(facts)


def test_an_action_says_where_once():
    said = Acted(at=0, action="stop", iteration=48, step=48, reason="step 48, rank 0: the loss is not finite")
    assert wording.action(said) == "step 48, rank 0: the loss is not finite"
    assert wording.action(said, rank(a_masked_row())) == "step 48, rank 0: the loss is not finite"


def test_an_action_does_not_repeat_the_verdict_above():
    above = rank(a_masked_row())
    said = Acted(at=0, action="stop", iteration=48, step=48, reason=above.summary)
    assert wording.action(said, above) == "step 48, rank 0: for the verdict above"


def test_no_named_row_is_said():
    assert "no single row of the batch can be named" in told(
        some_facts(a_birth("aten::log", a_tensor(0.0))), wording.sample
    )


def test_the_line_that_made_a_value_is_shown_with_its_source():
    made = Frame("/data.py", 11, "__init__", "self.x[77] = nan")
    facts = some_facts(made=(made,))
    verdict = msgspec.structs.replace(rank(facts), file=made.file, line=made.line)
    first, second, *_ = [text for _, text, _ in wording.where(facts, verdict)]
    assert first.endswith("data.py:11 in __init__") and second == "    self.x[77] = nan"


def test_samples_of_a_subset_are_told_in_the_dataset_below_it() -> None:
    known = LoaderFacts(indices=(4, 2, 9), whole=WholeDataset(name="Rows", indices=(40, 20, 90)))
    assert wording.in_whole(known, (9, 4)) == ["Samples 9, 4 of the Subset are samples 90, 40 of Rows."]
    assert wording.in_whole(known, (5,)) == wording.in_whole(LoaderFacts(indices=(4,)), (4,)) == []
