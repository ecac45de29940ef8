"""Which line of the program a learning rate comes from: the constant, the option or the group that the optimizer was
built with, or the line that has written another one since."""

from __future__ import annotations

import ast
import itertools
import math
from collections.abc import Callable, Iterable, Sequence

from torch.optim import Optimizer

from debugtracer.callsites.frames import RawFrames, frames_of, user_frames
from debugtracer.callsites.origins.called_function import called_function
from debugtracer.callsites.origins.option_lines import literal
from debugtracer.callsites.origins.setting_origin import at_line, setting_line
from debugtracer.callsites.origins.value_origin import last_write, program_of, scope_at
from debugtracer.callsites.origins.written_names import Function, final_name, returns
from debugtracer.observers.scheduler.climb_line import climb_line, writes_rate
from debugtracer.source.program import Program
from debugtracer.trace.birth import Frame

BOUNDS = frozenset({"min", "max", "clip", "clamp", "minimum", "maximum", "fmin", "fmax"})
"""Calls that keep a number within a range."""


class RateLines:
    """Reads the source once for each rate that the optimizers of one line begin with or are given."""

    def __init__(self, stack_of: Callable[[Optimizer], RawFrames | None]) -> None:
        """Take what knows the stack in which an optimizer was built."""
        self.stack_of = stack_of
        self.known: dict[tuple[object, ...], Frame | None] = {}

    def line(self, optimizer: Optimizer, rate: float, built: Sequence[float], first: bool) -> Frame | None:
        """The line of a rate that no scheduler sets; `first`: nothing can have written another one yet."""
        raw = self.stack_of(optimizer) or ()
        # a loop over tasks builds one optimizer for each of them, at one line
        key = (raw, type(optimizer), str(optimizer.defaults.get("lr")), tuple(built), rate, first)
        if key not in self.known:
            stack = frames_of(raw)
            found = built_line(optimizer, stack, rate) if first or rate in built else None
            if found is None and rate not in built:
                found = written_line((frame.file for frame in (*user_frames(), *stack)), rate, name_of(stack))
            self.known[key] = found
        return self.known[key]

    def climb(self, optimizer: Optimizer, value_frame: Frame | None, by_hand: bool) -> Frame | None:
        """The line of a schedule that counts up: one of a scheduler's function, or of the program's own writes."""
        if value_frame is None and not by_hand:
            return None
        files = [frame.file for frame in (*user_frames(), *frames_of(self.stack_of(optimizer) or ()))]
        return climb_line(files, value_frame)


def built_line(optimizer: Optimizer, stack: Sequence[Frame], rate: float) -> Frame | None:
    """The line of the rate that an optimizer was built with, where it does not stand in the call itself; of several
    groups with rates of their own, that of the group."""
    default = optimizer.defaults.get("lr")
    if not stack or not isinstance(default, (int, float)):
        return None
    if float(default) == rate:
        return setting_line(stack, type(optimizer).__name__, "lr", 1, rate)
    program = program_of(stack[0].file)
    lines = [] if program is None else list(group_lines(program, rate))
    return at_line(program, lines[0]) if program is not None and len(lines) == 1 else None


def group_lines(program: Program, rate: float) -> Iterable[int]:
    """Yield the lines of parameter groups that are written out with this rate."""
    for node in program.nodes:
        if isinstance(node, ast.Dict):
            given = {k.value: v for k, v in zip(node.keys, node.values, strict=True) if isinstance(k, ast.Constant)}
            if "params" in given and "lr" in given and literal(given["lr"]) == rate:
                yield given["lr"].lineno


def name_of(stack: Sequence[Frame]) -> str:
    """The name that the line of these which built an optimizer gives it; empty where that is no assignment."""
    program = program_of(stack[0].file) if stack else None
    made = program.every(ast.Assign) if program is not None else []
    here = [n for n in made if n.lineno <= stack[0].line <= (n.end_lineno or n.lineno)]
    return ast.unparse(here[0].targets[0]) if len(here) == 1 else ""


def is_written_to(program: Program, write: ast.AST, name: str) -> bool:
    """Whether a write goes into the groups of the optimizer of that name: by itself, or in a loop over them."""
    target = write.targets[0] if isinstance(write, ast.Assign) else None
    loops = [above.iter for above in program.above(write) if isinstance(above, ast.For)]
    return any(f"{name}.param_groups" in ast.unparse(one) for one in (target, *loops) if one is not None)


def written_line(files: Iterable[str], rate: float | None = None, name: str = "") -> Frame | None:
    """The line that computes the rate which the program writes into `param_groups[...]["lr"]`; of several, those left
    out that write out another number, the only one that no condition guards, which each update meets, or the only one
    into the optimizer of that name. None where no line does, or several."""
    for file in dict.fromkeys(files):
        program = program_of(file)
        writes = [n for n in program.nodes if writes_rate(n)] if program is not None else []
        writes = [n for n in writes if not writes_other(n, rate)] or writes
        if program is not None and len(writes) > 1:
            writes = [write for write in writes if not is_guarded(program, write)]
            of_name = [write for write in writes if name and is_written_to(program, write, name)]
            writes = of_name if len(of_name) == 1 else writes
        if program is not None and len(writes) == 1:
            return at_line(program, computed(program, writes[0]))
    return None


def writes_other(node: ast.AST, rate: float | None) -> bool:
    """Whether a write gives a number that is written out there and is not this rate."""
    given = literal(node.value) if isinstance(node, ast.Assign) else None
    return given is not None and rate is not None and not math.isclose(given, rate, rel_tol=1e-9)


def is_guarded(program: Program, node: ast.AST) -> bool:
    """Whether a condition inside its function decides about a statement."""
    function = program.function(node)
    inside = itertools.takewhile(lambda above: above is not function, program.above(node))
    return any(isinstance(above, (ast.If, ast.ExceptHandler)) for above in inside)


def computed(program: Program, write: ast.AST) -> int:
    """The line that computes what a write takes over plain names; of a product that of its only factor which is
    computed in the same function, as what is set once has not moved."""
    line: int = getattr(write, "lineno", 1)
    scope = scope_at(program, line)
    node = write.value if isinstance(write, (ast.Assign, ast.AugAssign)) else None
    for _ in range(4):
        step = follow(program, scope, node, line)
        if step is None:
            break
        line, node = step
    return line


def follow(program: Program, scope: Function | None, node: ast.expr | None, line: int) -> tuple[int, ast.expr] | None:
    """The line and value of the assignment before, or of the only `return` of a function of the same file."""
    if isinstance(node, ast.Call):
        called = called_function(program, scope, node, lambda file: None)
        given = returns(*called) if called is not None else []
        return (given[0].lineno, given[0].value) if len(given) == 1 and given[0].value is not None else None
    product = isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult)
    if node is None or not (product or isinstance(node, ast.Name)):
        return None
    bases = {id(n.value) for n in ast.walk(node) if isinstance(n, ast.Attribute)}
    names = [n.id for n in ast.walk(node) if isinstance(n, ast.Name) and id(n) not in bases]
    written = [w for name in dict.fromkeys(names) if (w := last_write(program, scope, name, line)) is not None]
    made = [w for w in written if w.value is not None and w.part is None and literal(w.value) is None]
    return (made[0].node.lineno, made[0].value) if len(made) == 1 and made[0].value is not None else None


def built_rates(optimizer: Optimizer) -> list[float]:
    """The rates that the groups of an optimizer were built with, before any schedule."""
    given = (g.get("initial_lr", optimizer.defaults.get("lr")) for g in optimizer.param_groups)
    return [float(rate) for rate in given if isinstance(rate, (int, float))]


def fraction_line(given: Frame | None) -> Frame | None:
    """The line of the only fraction which the function around a line takes by name and bounds nowhere (`done = (step -
    begin) / (end - begin)`), of a rate that ran through its end; None where it is that line, or there are several."""
    program = program_of(given.file) if given is not None else None
    scope = scope_at(program, given.line) if program is not None and given is not None else None
    if program is None or scope is None or given is None:
        return None
    bounded = {
        name.id
        for call in ast.walk(scope)
        if isinstance(call, ast.Call) and final_name(call.func) in BOUNDS
        for name in ast.walk(call)
        if isinstance(name, ast.Name)
    }
    assigned = [n for n in ast.walk(scope) if isinstance(n, ast.Assign) and isinstance(n.targets[0], ast.Name)]
    used = names_at(scope, given.line)
    for _ in assigned:  # as far back as there are names
        used |= {name for n in assigned if ast.unparse(n.targets[0]) in used for name in read(n.value)}
    found = [n for n in assigned if is_fraction(n.value) and ast.unparse(n.targets[0]) in used - bounded]
    return at_line(program, found[0].lineno) if len(found) == 1 and found[0].lineno != given.line else None


def names_at(scope: Function, line: int) -> set[str]:
    """The names that the statements of a line read."""
    return {n.id for n in ast.walk(scope) if isinstance(n, ast.Name) and n.lineno == line}


def read(node: ast.expr) -> set[str]:
    """The names in an expression."""
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}


def is_fraction(node: ast.expr) -> bool:
    """Whether an expression divides one thing by another, neither of them a number that is written out, and bounds
    neither."""
    if isinstance(node, ast.Call) and final_name(node.func) == "float" and len(node.args) == 1:
        node = node.args[0]
    divides = isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div)
    bounds = any(isinstance(n, ast.Call) and final_name(n.func) in BOUNDS for n in ast.walk(node))
    return divides and isinstance(node, ast.BinOp) and literal(node.left) is None and not bounds
