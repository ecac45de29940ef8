"""The table holds together: every class has remedies, every pattern contains its plain text."""

from __future__ import annotations

import re

from debugtracer.logs.patterns import patterns


def test_every_class_that_is_named_has_a_layer_and_remedies():
    table = patterns()
    named = {kind for one in (*table.message, *table.node.values()) for kind in (one.kind, *one.others)} | {
        kind for row in table.number.values() for kind in row
    }
    assert named - set(table.classes) == set()
    assert all(one.remedy for one in table.classes.values())


def test_slugs_are_unique_and_patterns_compile():
    table = patterns()
    assert len({one.slug for one in table.message}) == len(table.message)
    for one in table.message:
        assert 0 <= one.certainty <= 0.9
        groups = set(re.compile(one.pattern).groupindex)
        assert set(re.findall(r"\{(\w+)\}", one.because + one.sample + "".join(one.remedy))) <= groups, one.slug


def test_every_node_and_operator_of_the_table_exists_in_torch():
    import torch

    known = {re.sub(r"Backward\d+$", "", name) for name in dir(torch._C._functions)}
    assert set(patterns().node) - known == set()
    ops = {node.op.removeprefix("aten::") for node in patterns().node.values()}
    assert {op for op in ops if not hasattr(torch.ops.aten, op)} == set()
