"""Where the state was made that a recurrent layer refused: in the function that calls it, by the branch that ran, by
what called that function, or kept on an object from the batch before."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from types import FrameType

from torch import nn

from debugtracer.callsites.frame_locals import locals_of
from debugtracer.callsites.origins.argument_origin import calls_on
from debugtracer.callsites.origins.handed_on import carrier
from debugtracer.callsites.origins.value_origin import Use, argument_of, calls_at, program_of, scope_at
from debugtracer.callsites.origins.written_names import Written, final_name, parameters, writes_of
from debugtracer.callsites.raising_frames import raising_frames
from debugtracer.errors import guarded
from debugtracer.observers.program.branch_run import ran
from debugtracer.observers.program.cut_windows import value_of
from debugtracer.source.program import Program
from debugtracer.trace.facts.crash import StateMade

HOPS = 8  # names and callers gone back through (ours)
REFUSED = "Expected hidden"
Walked = Sequence[tuple[FrameType, int]]


@guarded("crash.state")
def state_made(error: BaseException) -> StateMade | None:
    """The line that made the state; None where the exception is not about one, or it cannot be followed."""
    if REFUSED not in str(error):
        return None
    walked = raising_frames(error)[::-1]
    given = state_given(*walked[0]) if walked else None
    return followed(given, walked) if given is not None else None


def state_given(frame: FrameType, line: int) -> ast.expr | None:
    """The state that the only call of a recurrent layer on a line is given."""
    program = program_of(frame.f_code.co_filename)
    values = {**frame.f_globals, **locals_of(frame)}
    found = []
    for call in calls_on(program, line) if program is not None else ():
        layer = value_of_part(call.func, values)
        if isinstance(layer, (nn.RNNBase, nn.RNNCellBase)):
            found.append(argument_of(call, "hx", 1))
    return found[0] if len(found) == 1 else None


def value_of_part(node: ast.expr, values: dict[str, object]) -> object:
    """The module that an expression names: `lstm`, `self.lstm`."""
    if isinstance(node, ast.Attribute):
        holder = value_of(node.value, values)
        return holder._modules.get(node.attr) if isinstance(holder, nn.Module) else value_of(node, values)
    return value_of(node, values)


def followed(node: ast.expr, walked: Walked) -> StateMade | None:
    """The line that made what an expression of the innermost of these functions holds."""
    depth = 0
    for _ in range(HOPS):
        frame, line = walked[depth]
        program = program_of(frame.f_code.co_filename)
        if program is None:
            return None
        scope = scope_at(program, line)
        node = carrier(node)
        if isinstance(node, (ast.Tuple, ast.List)) and node.elts:
            node = node.elts[0]
            continue
        if isinstance(node, ast.Attribute):
            return kept(program, Use(program, scope, node), line)
        if not isinstance(node, ast.Name):
            return None
        written = last_run(program, Use(program, scope, node), frame, line)
        if written is not None and written.value is not None and is_name(written.value):
            node = written.value
        elif written is not None:
            return StateMade(frame=Use(program, scope, node).frame(written.node))
        else:
            given = handed_in(node.id, program, walked[depth:])
            if given is None:
                return None
            node, depth = given, depth + 1
    return None


def is_name(value: ast.expr) -> bool:
    """Whether an expression only hands on what another name holds."""
    return isinstance(carrier(value), (ast.Name, ast.Attribute, ast.Tuple))


def last_run(program: Program, use: Use, frame: FrameType, line: int) -> Written | None:
    """The last write to a name before a line, of those whose branch ran."""
    every = writes_of(use.scope or program.tree, ast.unparse(use.node))
    before = [w for w in every if program.function(w.node) is use.scope and w.node.lineno < line]
    values = {**frame.f_globals, **locals_of(frame)}
    return next((w for w in reversed(before) if ran(program, w.node, values) is not False), None)


def handed_in(name: str, program: Program, walked: Walked) -> ast.expr | None:
    """What the calling line passed for a parameter of the innermost of these functions."""
    scope = scope_at(program, walked[0][1])
    if scope is None or len(walked) < 2 or name not in (names := parameters(scope)):
        return None
    frame, line = walked[1]
    caller = program_of(frame.f_code.co_filename)
    place = names.index(name) - (names[:1] == ["self"])
    values = {**frame.f_globals, **locals_of(frame)}
    every = calls_at(caller, line, scope.name) if caller is not None else []
    calls = [call for call in every if may_run(call, scope.name, values)]
    given = [one for call in calls if (one := argument_of(call, name, place)) is not None]
    return given[0] if len(given) == 1 else None


def may_run(call: ast.Call, name: str, values: dict[str, object]) -> bool:
    """Whether a call runs a function of this name: by its name, or as the forward of a module."""
    of_a_module = isinstance(call.func, ast.Call) or isinstance(value_of_part(call.func, values), nn.Module)
    return final_name(call.func) == name or of_a_module


def kept(program: Program, use: Use, line: int) -> StateMade | None:
    """The line that keeps a state on an object: after the call in the same function it is that of the batch before."""
    owner = program.owner(use.scope) if use.scope is not None else None
    every = writes_of(owner, ast.unparse(use.node)) if owner is not None else []
    made = [w for w in every if w.value is not None and not isinstance(w.value, ast.Constant)]
    after = [w for w in made if program.function(w.node) is use.scope and w.node.lineno >= line]
    written = (after or made)[-1] if made else None
    return StateMade(frame=use.frame(written.node), kept=bool(after)) if written is not None else None
