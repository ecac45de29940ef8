"""Shapes that do not fit."""

from __future__ import annotations

import msgspec

from debugtracer.checks.model.shape_mismatch import ShapeMismatch
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.crash import ModuleSeen
from tests.checks.crashes import a_crash, seen, silent_on_another_error, told

HEAD = ModuleSeen(path="head", kind="Linear", sizes={"in_features": 512, "out_features": 10})


def test_the_module_what_it_was_built_for_and_what_it_got():
    crash = a_crash(
        "mat1 and mat2 shapes cannot be multiplied (32x2048 and 512x10)",
        modules=(HEAD,),
        tensors=(seen("input", 32, 2048),),
    )
    (finding,) = told(ShapeMismatch(), crash)
    assert finding.message == (
        "step 5, rank 0: head (Linear, in_features 512) was given input (32, 2048); expected 512 where it has 2048. "
        "Build it with in_features=2048, or "
        "change what comes before it."
    )
    assert (finding.kind, finding.place.module) == ("shape_mismatch", "head")


def test_a_loss_with_targets_of_another_shape_is_a_misuse_of_the_loss():
    crash = a_crash(
        "Expected input batch_size (4) to match target batch_size (3).", "ValueError", torch_calls=("cross_entropy",)
    )
    (finding,) = told(ShapeMismatch(), crash)
    assert finding.kind == "loss_misuse"


def test_an_operator_of_the_users_own_is_told_with_its_tensors():
    crash = a_crash(
        "The size of tensor a (4) must match the size of tensor b (5) at non-singleton dimension 1",
        tensors=(seen("a", 3, 4), seen("b", 3, 5)),
    )
    (finding,) = told(ShapeMismatch(), crash)
    assert "there are a (3, 4), b (3, 5)" in finding.message


def test_another_exception_is_none_of_its_business():
    silent_on_another_error(ShapeMismatch())


def mismatch(*shape):
    """The place of a mismatch of a head whose line is known, for an input of this shape."""
    line = Frame("/a/net.py", 9, "__init__", "self.head = nn.Linear(512, 10)")
    crash = a_crash(
        "mat1 and mat2 shapes cannot be multiplied",
        modules=(msgspec.structs.replace(HEAD, built=line),),
        tensors=(seen("input", *shape),),
    )
    (finding,) = told(ShapeMismatch(), crash)
    assert ("(net.py:9)" in finding.message) == (finding.place.frame == line)
    return finding.place


def test_the_line_to_edit_is_the_one_that_builds_the_layer():
    place = mismatch(32, 2048)
    assert (place.frame.line, place.symptom_frame) == (9, a_crash("x").frames[0])
    assert mismatch(32, 18, 96).frame.line == 9


def test_where_the_input_only_lies_otherwise_it_is_the_call():
    for shape in ((32, 512, 16), (32, 8, 64), (32, 2, 4, 64)):  # transposed; not flattened
        assert mismatch(*shape).frame == a_crash("x").frames[0]
