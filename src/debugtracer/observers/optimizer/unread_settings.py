"""Looks for settings that a program writes where no optimizer reads them: `optimizer.lr = ...` and
`optimizer.defaults["lr"] = ...`, while the groups of parameters keep what they were built with."""

from __future__ import annotations

import ast
from typing import Any

from torch import Tensor
from torch.optim import Optimizer

from debugtracer.callsites.construction import is_user_file
from debugtracer.callsites.frames import raw_frames
from debugtracer.callsites.origins.setting_origin import at_line, imported
from debugtracer.callsites.origins.value_origin import program_of
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, inspected
from debugtracer.recorder.state.identity import ById
from debugtracer.source.program import Program
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.misspelt_name import MisspeltName
from debugtracer.trace.number import number

ALSO = {"learning_rate": "lr", "wd": "weight_decay"}
"""Other names of what the groups hold."""
MOST = 8  # optimizers looked at (ours)


class UnreadSettingsObserver(Observer):
    """Compares Python numbers at the updates of inspected steps and at the end; once an optimizer."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.built: ById[Optimizer, dict[str, float]] = ById()
        """The defaults that an optimizer began with; empty once it was told of."""
        self.files: dict[str, None] = {}

    def reset(self) -> None:
        self.built.clear()
        self.files.clear()

    @inspected
    def step_closed(self, optimizer: Optimizer) -> None:
        """Look at the optimizer that has stepped."""
        if not type(optimizer).__module__.startswith("torch.optim."):
            return  # one of the user's may read what it likes
        if self.built.get(optimizer) is None and len(self.built) < MOST:
            self.built[optimizer] = numbers_of(optimizer.defaults)
            self.files |= dict.fromkeys(code.co_filename for code, _ in raw_frames(1))
        self.look(optimizer)

    def ended(self) -> None:
        """Look at each optimizer once more."""
        for optimizer, _ in list(self.built.items()):
            self.look(optimizer)

    def look(self, optimizer: Optimizer) -> None:
        """Emit a setting that differs from that of all groups, which nothing has moved."""
        built = self.built.get(optimizer)
        if not built:
            return
        own = numbers_of({ALSO.get(name, name): value for name, value in vars(optimizer).items()})
        for meant, value in (own | changed(built, numbers_of(optimizer.defaults))).items():
            used = [group.get(meant) for group in optimizer.param_groups]
            if (
                meant not in built
                or value == built[meant]
                or any(isinstance(one, Tensor) or one != built[meant] for one in used)
            ):
                continue
            spelt = {meant, *(name for name, other in ALSO.items() if other == meant)} if meant in own else {"defaults"}
            name, frame = written(spelt, meant, [file for file in self.files if is_user_file(file)])
            if frame is None:
                continue  # the program reads it itself, or an extension wrote it
            self.built[optimizer] = {}
            self.run.emit(
                MisspeltName(
                    ref=self.run.ref("update"), path="", layer=type(optimizer).__name__, name=name, meant=meant,
                    given=number(value), used=number(built[meant]), frame=frame,
                )
            )  # fmt: skip
            return


def numbers_of(settings: dict[str, Any]) -> dict[str, float]:
    """The plain numbers among settings."""
    return {k: float(v) for k, v in settings.items() if isinstance(v, (int, float)) and not isinstance(v, bool)}


def changed(built: dict[str, float], now: dict[str, float]) -> dict[str, float]:
    """The numbers that are others now."""
    return {name: value for name, value in now.items() if built.get(name, value) != value}


def written(spelt: set[str], meant: str, files: list[str]) -> tuple[str, Frame | None]:
    """The first line of a program that writes such an attribute of an object, or the entry of its defaults, and as
    what; none where the program reads it, but to show it."""
    programs = [program for file in files if (program := program_of(file)) is not None]
    beside = [other for program in programs for other in imported(program)]
    found: list[tuple[str, Frame]] = []
    for program in {one.path: one for one in [*programs, *beside]}.values():
        for holder, node, name in writes(program, spelt, meant):
            if any(is_used(program, one, holder) for one in spelt - {"defaults"}):
                return "", None
            found.append((f"{ast.unparse(holder)}.{name}", at_line(program, node.lineno)))
    return found[0] if found else ("", None)


def writes(program: Program, spelt: set[str], meant: str) -> list[tuple[ast.expr, ast.stmt, str]]:
    """The statements that write one of these attributes: of what, which, and the attribute."""
    found: list[tuple[ast.expr, ast.stmt, str]] = []
    for node in sorted(program.every(ast.Assign) + program.every(ast.AugAssign), key=lambda n: n.lineno):
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            entry = text_of(target.slice) if isinstance(target, ast.Subscript) else None
            holder = target.value if isinstance(target, ast.Subscript) and entry == meant else target
            if not isinstance(holder, ast.Attribute) or holder.attr not in spelt:
                continue
            if (entry == meant) is ("defaults" in spelt):
                found.append((holder.value, node, holder.attr + (f'["{entry}"]' if entry else "")))
    return found


def text_of(node: ast.expr) -> str | None:
    """The string that an expression is."""
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def is_used(program: Program, name: str, holder: ast.expr) -> bool:
    """Whether the attribute of that object is read for more than to be shown."""
    return any(
        isinstance(node, ast.Attribute) and node.attr == name and isinstance(node.ctx, ast.Load)
        and ast.unparse(node.value) == ast.unparse(holder)
        and not any(isinstance(above, ast.Expr) for above in program.above(node))
        for node in program.nodes
    )  # fmt: skip
