"""For an incident: the lines of the program that wrote the value it began with, a tensor of the batch, one made before
the step, or the mask of an attention."""

from __future__ import annotations

import ast
import sys
from collections.abc import Sequence
from types import FrameType

import torch
from torch import Tensor

from debugtracer.callsites.frame_locals import locals_of
from debugtracer.callsites.frames import USER, as_frame, place_of
from debugtracer.callsites.numeric_warning import NumericWarning
from debugtracer.callsites.origins.argument_origin import object_built
from debugtracer.callsites.origins.handed_on import carrier
from debugtracer.callsites.origins.infinity_origin import infinite_line
from debugtracer.callsites.origins.label_cut import label_cut
from debugtracer.callsites.origins.nonfinite_origin import nonfinite_first
from debugtracer.callsites.origins.value_origin import Link, last_write, made_first, origin, program_of, scope_at
from debugtracer.callsites.origins.weight_origin import weight_line
from debugtracer.callsites.origins.written_names import final_name
from debugtracer.callsites.origins.zero_origin import zero_made
from debugtracer.callsites.program_stack import program_stack
from debugtracer.causes.backward_nan_op import DIVISIONS
from debugtracer.diagnosis.number_lines import number_lines
from debugtracer.errors import guarded
from debugtracer.recorder.tape.batches import Batch
from debugtracer.trace.birth import Birth, Frame
from debugtracer.trace.number import Number, as_float
from debugtracer.trace.pipeline_birth import PipelineBirth

MOST_BYTES = 1 << 30  # a larger tensor of the program is not looked at (ours)
MASKED = ("softmax", "log_softmax", "softmin", "dot_product_attention", "efficient_attention")
HALF = ("half", "float16", "HalfTensor", "f2", "<f2")
FILLS = {"masked_fill": 0, "masked_fill_": 0, "where": 0}


@guarded("diagnosis.value_lines")
def value_lines(
    birth: Birth | None,
    batch: Batch | None,
    ignored: str,
    pipeline: PipelineBirth | None = None,
    heard: Sequence[NumericWarning] = (),
) -> tuple[Frame, ...]:
    """The lines that wrote the value an incident began with, the one that made it first; empty where it was born in
    the step. `ignored` is the leaf of the batch that holds labels of which none counts, `pipeline` what a fetch of the
    sample has shown, `heard` what numpy has warned of."""
    if birth is None:
        return ()
    if pipeline is not None and pipeline.kind == "stored" and pipeline.frame is not None and not pipeline.refused:
        kept = stored_lines(pipeline.frame, pipeline.expression, pipeline.kept_in_half, heard)
        if kept:
            return kept
    if birth.kind == "input" or ignored:
        name = ignored or birth.input_name or ""
        if name.startswith("batch"):
            if batch is None:
                return ()
            some = birth.rows is not None and len(birth.rows) < (batch.rows or 0)
            return batch.loader.made(name) if ignored else batch.loader.spoiled(name, some, heard)
        outside = name.startswith(("a tensor", "input "))
        return nonfinite_first(of_the_program(sys._getframe(1)), few(birth), heard) if outside else ()
    if birth.number is not None:
        return number_lines(birth.frames, sys._getframe(1))
    if base(birth.op).startswith("_weight_norm"):
        layer = (birth.module or "").partition(".parametrizations.")
        found = weight_line(birth.frames, f"{layer[0]}.{layer[2].split('.')[0] or 'weight'}")
        return (found,) if found is not None else ()
    if birth.kind == "inf-inf" and base(birth.op) in ("sub", "rsub"):
        found = infinite_line(birth.frames) or filled(birth)
        return (found,) if found is not None else ()
    if any(word in (birth.op or "") for word in MASKED) and birth.frame is not None:
        found = filled(birth)
        return of_the_mask(birth.frame) or ((found,) if found is not None else ())
    if base(birth.op) in DIVISIONS and any(zeros(one.values) for one in birth.inputs):
        return zero_made(birth.frames)
    if "ctc_loss" in (birth.op or ""):
        found = object_built(birth.frames, "CTCLoss")
        return (found,) if found is not None else ()
    return ()


def few(birth: Birth) -> bool:
    """Whether some rows of the tensor that was bad on entry have no bad value for sure."""
    seen = birth.output
    rows = seen.shape[0] if seen is not None and seen.shape else 1
    known = birth.rows is not None and len(birth.rows) < rows
    return known or (seen is not None and seen.nan + seen.posinf + seen.neginf < rows)


def zeros(values: Sequence[Number]) -> bool:
    """Whether an input was 0 at all bad places that are known."""
    return bool(values) and all(as_float(value) == 0 for value in values)


def stored_lines(
    reads: Frame, expression: str, half: bool = False, heard: Sequence[NumericWarning] = ()
) -> tuple[Frame, ...]:
    """The lines that wrote what an expression takes from the store, an attribute of the data set (`self.x[i]`); with
    `half` the one that casts it to float16, where a large number becomes Inf."""
    try:
        node = carrier(ast.parse(expression, mode="eval").body)
    except (SyntaxError, ValueError):
        return ()
    if not isinstance(node, ast.Attribute):
        return ()
    links = origin(ast.unparse(node), (reads,))
    cast = next((link.frame for link in links if half and link.value is not None and halves(link.value.node)), None)
    return (cast,) if cast is not None else nonfinite_first(links, some=True, heard=heard)


def halves(node: ast.expr) -> bool:
    """Whether an expression names float16 or the cast to it."""
    return any(
        (isinstance(n, ast.Attribute) and n.attr in HALF) or (isinstance(n, ast.Constant) and n.value in HALF)
        for n in ast.walk(node)
    )


def filled(birth: Birth) -> Frame | None:
    """The line that wrote the infinities of a mask, where that is another one than the op's."""
    line, here = birth.infinity, birth.frame
    other = line is not None and (here is None or (line.file, line.line) != (here.file, here.line))
    return line if other else None


@guarded("diagnosis.value_lines: cut")
def cut_line(batch: Batch | None, ignored: str) -> Frame | None:
    """The line that cuts the labels of which none counts; None where they are as long as they were made."""
    if batch is None:
        return None
    leaf = next((leaf for path, leaf in batch.tensors() if path == ignored), None)
    if leaf is None or not leaf.dim():
        return None
    return label_cut(batch.loader.origin(ignored), leaf.shape[-1])


def base(op: str | None) -> str:
    """The name of an operator alone: `sub` of `aten::sub.Tensor`."""
    return (op or "").rpartition("::")[2].split(".")[0]


def of_the_program(frame: FrameType | None) -> tuple[Link, ...]:
    """The lines that wrote a non-finite tensor without a graph which the running program holds by name, innermost frame
    first."""
    for user in program_stack(frame):
        for name, value in locals_of(user).items():
            parts = value if isinstance(value, (tuple, list)) else (value,)
            bad = next((i for i, part in enumerate(parts[:16]) if spoiled(part)), None)
            if bad is None or not name.isidentifier():
                continue
            links = origin(name if parts is not value else f"{name}[{bad}]", stack_of(user))
            if links:
                return links
    return ()


def stack_of(frame: FrameType | None) -> tuple[Frame, ...]:
    """The user's lines from a live frame outwards."""
    found: list[Frame] = []
    while frame is not None:
        if place_of(frame.f_code) == USER:
            found.append(as_frame(frame.f_code, frame.f_lineno))
        frame = frame.f_back
    return tuple(found)


def spoiled(value: object) -> bool:
    """Whether this is a floating tensor that the step did not compute, with a value that is not finite. Syncs the
    host."""
    if not isinstance(value, Tensor) or value.grad_fn is not None or not value.is_floating_point():
        return False
    if value.is_sparse:
        value = value.detach().coalesce().values()
    if value.layout != torch.strided or value.nbytes > MOST_BYTES or isinstance(value, torch.nn.Parameter):
        return False
    return not bool(torch.isfinite(value.detach()).all())


def of_the_mask(frame: Frame) -> tuple[Frame, ...]:
    """The lines that set the mask of a softmax, where it is the module's own (`self.mask`, a buffer): it hides whole
    rows whatever the batch is."""
    program = program_of(frame.file)
    if program is None:
        return ()
    scope = scope_at(program, frame.line)
    if scope is None:
        return ()
    calls = [n for n in ast.walk(scope) if isinstance(n, ast.Call) and n.lineno <= frame.line <= (n.end_lineno or 0)]
    given = next((c for c in calls if final_name(c.func) in MASKED), None)
    name = (
        next((n for n in ast.walk(given) if isinstance(n, ast.Name) and n.id not in ("F", "torch")), None)
        if given
        else None
    )
    written = last_write(program, scope, name.id, frame.line) if name is not None else None
    if written is None:
        return ()
    fill = written.value
    if not isinstance(fill, ast.Call) or final_name(fill.func) not in FILLS or not fill.args:
        return ()
    mask = fill.args[0]
    own = [n for n in ast.walk(mask) if isinstance(n, ast.Attribute) and ast.unparse(n.value) == "self"]
    if len(own) != 1:
        return ()
    links = origin(ast.unparse(own[0]), (Frame(frame.file, written.node.lineno, frame.function),))
    return (*made_first(links), Frame(frame.file, written.node.lineno, frame.function, "")) if links else ()
