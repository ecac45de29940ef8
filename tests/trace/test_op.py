"""Facts about the whereabouts of an op."""

import msgspec

from debugtracer.trace.birth import Frame
from debugtracer.trace.op import OpMeta


def test_the_root_module_and_no_module_stay_apart_in_json() -> None:
    root, free = (OpMeta(index=0, op="aten::log", module=module) for module in ("", None))
    back = [msgspec.json.decode(msgspec.json.encode(m), type=OpMeta).module for m in (root, free)]
    assert back == ["", None]


def test_a_backward_op_keeps_its_forward_op_and_line() -> None:
    meta = OpMeta(
        index=3,
        op="aten::div",
        direction="backward",
        forward_op="aten::sqrt",
        node="SqrtBackward0",
        frames=(Frame("a.py", 7),),
    )
    assert msgspec.json.decode(msgspec.json.encode(meta), type=OpMeta) == meta
