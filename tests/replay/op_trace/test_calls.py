"""What an op reads and writes, from its schema."""

from __future__ import annotations

import pytest
import torch

from debugtracer.replay.op_trace.calls import constant, groups, nonfinite_number, shape_of

aten = torch.ops.aten


def names(func, args, kwargs=None, out=None):
    (group,) = groups(shape_of(func), args, kwargs or {}, out, {})
    return [r.name for r in group.reads], len(group.outs), len(group.written)


def test_an_ordinary_op_reads_its_arguments():
    a, b = torch.ones(2), torch.ones(2)
    assert names(aten.add.Tensor, (a, b), out=a + b) == (["self", "other"], 1, 0)


def test_an_in_place_op_reads_and_writes_itself_and_an_overwriting_one_only_writes():
    a, b = torch.ones(2), torch.ones(2)
    assert names(aten.add_.Tensor, (a, b), out=a) == (["self", "other"], 1, 1)
    assert names(aten.copy_.default, (a, b), out=a) == (["src"], 1, 1)
    assert names(aten.fill_.Scalar, (a, 0.0), out=a) == ([], 1, 1)


def test_an_out_argument_is_not_read():
    a, b = torch.ones(2), torch.empty(2)
    assert names(aten.log.out, (a,), {"out": b}, out=b) == (["self"], 1, 1)


def test_a_list_op_is_one_group_for_each_tensor():
    first, second = [torch.ones(1), torch.ones(2)], [torch.ones(1), torch.ones(2)]
    found = groups(shape_of(aten._foreach_add_.List), (first, second), {}, None, {})
    assert [([len(r.tensor) for r in g.reads], [len(t) for t in g.outs]) for g in found] == [
        ([1, 1], [1]),
        ([2, 2], [2]),
    ]


def test_what_was_read_is_the_copy_from_before():
    a, copy = torch.zeros(2), torch.ones(2)
    (group,) = groups(shape_of(aten.log_.default), (a,), {}, a, {id(a): copy})
    assert (group.reads[0].before is copy, group.reads[0].tensor is a, group.reads[0].written) == (True, True, True)


def test_an_infinite_python_number_is_on_purpose():
    x, mask = torch.ones(2), torch.ones(2, dtype=torch.bool)
    assert constant(shape_of(aten.masked_fill.Scalar), (x, mask, -float("inf")), {})
    assert not constant(shape_of(aten.masked_fill.Scalar), (x, mask, -1e9), {})


def test_a_shape_is_made_once_and_knows_what_is_uninitialised_and_pointwise():
    assert shape_of(aten.empty.memory_format) is shape_of(aten.empty.memory_format)
    assert [shape_of(f).empty for f in (aten.empty.memory_format, aten.zeros.default)] == [True, False]
    assert [shape_of(f).pointwise for f in (aten.log.default, aten.mm.default)] == [True, False]


def test_a_batch_norm_writes_more_than_its_schema_says():
    shape = shape_of(torch.ops.aten.native_batch_norm.default)
    assert (shape.mutable, shape.changed) == ([], ["running_mean", "running_var"])
    assert shape_of(torch.ops.aten.add_.Tensor).changed == ["self"]


INF, NAN = float("inf"), float("nan")


@pytest.mark.parametrize(
    ("func", "args", "number"),
    [
        (aten.mul.Tensor, (torch.ones(2), INF), "inf"),
        (aten.mul_.Tensor, (torch.ones(2), -INF), "-inf"),
        (aten.add.Tensor, (torch.ones(2), NAN), "nan"),
        (aten.dropout.default, (torch.ones(2), NAN, True), "nan"),
        (aten.mul.Tensor, (torch.ones(2), 2.0), "None"),
        (aten.masked_fill.Scalar, (torch.ones(2), torch.ones(2).bool(), NAN), "None"),
        (aten.fill_.Scalar, (torch.ones(2), NAN), "None"),
        (aten.clamp.default, (torch.ones(2), 0.0, INF), "None"),
    ],
)
def test_a_number_that_no_op_is_given_on_purpose(func, args, number):
    assert str(nonfinite_number(shape_of(func), args, {})) == number
