"""Reading torch's anomaly message: the node it names, and the user's forward line that torch printed before it."""

from __future__ import annotations

import re
from dataclasses import replace

from debugtracer.logs.candidate import At, Case
from debugtracer.logs.facts import Anomaly
from debugtracer.logs.patterns import Node, patterns

NODE = re.compile(r"^(?P<name>\w+?)Backward(?P<number>\d*)(?:Backward)?$")
# not the user's Function: torch.compile and checkpoint
WRAPPERS = {"CompiledFunction", "CheckpointFunction", "Checkpoint", "GraphModule"}
# a call on the line whose derivative can be infinite although its value is finite; anomaly mode asks for NaN only, so
# the node behind it is named
CALLS = {
    "sqrt": "backward_nan_op",
    "acos": "backward_nan_op",
    "arccos": "backward_nan_op",
    "asin": "backward_nan_op",
    "hypot": "backward_nan_op",
    "log": "log_domain",
    "log2": "log_domain",
    "log10": "log_domain",
    "xlogy": "log_domain",
    "rsqrt": "zero_division",
    "reciprocal": "zero_division",
    "exp": "exp_overflow",
    "softmax": "masked_softmax_all_masked",
    "norm": "zero_norm",
    "std": "normalisation_zero_std",
}
PASSED_ON = (
    "; its derivative is infinite (not NaN) at the edge, so anomaly mode lets it pass and names the node behind it"
)
HARMLESS_POWER = re.compile(r"\*\*\s*[1-9]\d*(?![\d.])|pow\((?:[^()]*,)?\s*[1-9]\d*\s*\)|\bsquare\(")
POWER = re.compile(r"\*\*|\bpow\(")
DIVISION = re.compile(r"(?<![/\w])/(?!/)|\s/\s|\)/|\w/\w|\.div\(")


def judge_anomaly(anomaly: Anomaly, case: Case) -> None:
    """Add what the message is worth to the case."""
    frame = anomaly.forward.place if anomaly.forward is not None else None
    code = stripped(frame.code if frame else "")
    match = NODE.match(anomaly.node)
    name = match["name"] if match else anomaly.node
    seen = f"anomaly mode: {anomaly.node} returned NaN as gradient {anomaly.output}"
    at = At(anomaly.line, "inf_grad", frame, None, "backward")
    node, hints = patterns().node.get(name), hinted(code, name)
    if node is None and match and not match["number"] and name not in WRAPPERS:
        called = ".apply(" in code  # torch before 1.9 numbered only some of its own nodes
        why = f"{seen}; a node without a number is an autograd.Function of your own: its backward made the NaN"
        case.speaks_for("custom_backward_wrong", 0.75 if called else 0.5, why, at)
        return
    whole_power = name == "Pow" and bool(HARMLESS_POWER.search(code)) and not fractional(code)
    passes = node is None or node.only_passes or whole_power
    if node is not None and not whole_power:
        judge_node(node, name, 0.25 if passes and hints else 0.4 if passes else 0.7, seen, at, case)
    for place, (call, kind) in enumerate(hints):
        why = f"{seen}; the line {'divides' if call == '/' else f'calls {call}'}{PASSED_ON if passes else ''}"
        case.speaks_for(kind, (0.72 if passes else 0.5) * 0.7**place, why, replace(at, op=op_of(call)))
    if passes and not hints:
        why = (
            f"{seen}, whose derivative is finite where its inputs are: a value was NaN or infinite before, in the "
            "forward"
        )
        case.speaks_for("nonfinite_loss", 0.42, why, at)


def judge_node(node: Node, name: str, certainty: float, seen: str, at: At, case: Case) -> None:
    """Add the class of the node itself, and the others that end in it."""
    at = replace(at, op=node.op)
    case.speaks_for(node.kind, certainty, f"{seen}; {node.because}", at)
    for place, other in enumerate(node.others):
        case.speaks_for(other, 0.3 * 0.8**place, f"it too can make the gradient of {name.lower()} NaN", at)


def hinted(code: str, node: str) -> list[tuple[str, str]]:
    """The calls of the line and the class each speaks for, the one that the node itself is first."""
    found = [
        (call, kind)
        for call, kind in CALLS.items()
        if re.search(rf"\b(?:log_)?{call}\(", code) and not (call == "softmax" and "log_softmax(" in code)
    ]
    if DIVISION.search(code):
        found.append(("/", "zero_division"))
    return sorted(found, key=lambda pair: pair[0].lower() != node.lower())


def fractional(code: str) -> bool:
    """True if the line has a power that is no positive whole number."""
    return len(POWER.findall(code)) > len(HARMLESS_POWER.findall(code))


def op_of(call: str) -> str:
    """The aten operator of a call."""
    return {
        "/": "aten::div",
        "arccos": "aten::acos",
        "norm": "aten::linalg_vector_norm",
        "softmax": "aten::_softmax",
    }.get(call, f"aten::{call}")


def stripped(code: str) -> str:
    """A line of source without strings and comments."""
    return re.sub(r"\"[^\"]*\"|'[^']*'|#.*", "", code)
