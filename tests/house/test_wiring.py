"""Parts are joined by their constructors: nobody fills the attributes of another object, no callback waits to be set,
and every hook has the whole contract."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from pathlib import Path

import pytest

import debugtracer.hooks
from debugtracer.assembly.diagnosing import Diagnosing
from debugtracer.assembly.recording import Recording
from debugtracer.assembly.replaying import Replaying
from debugtracer.diagnosis.incident_writer import OnStderr, VerdictDisplay
from debugtracer.diagnosis.incidents import Incidents
from debugtracer.hooks.events.event_switch import EventSwitch
from debugtracer.hooks.events.loop_events import LoopEvents
from debugtracer.hooks.events.step_events import StepEvents
from debugtracer.hooks.hook import Hook
from debugtracer.observers.dispatcher import ObserverDispatcher
from debugtracer.recorder.listeners import AlarmListener, GateRanks, IncidentPolicy
from debugtracer.recorder.training_events import TrainingEvents
from debugtracer.settings import Settings
from tests.each import each

PACKAGE = Path(__file__).resolve().parents[2] / "src" / "debugtracer"
JOINING = ("session.py", "assembly", "integrations")
CALLED_BACK = ("session.py", "assembly", "hooks", "recorder", "diagnosis")
FOREIGN = {
    # the loader of torch is no object of ours, and Patches is not imported before torch
    "integrations/bootstrap/sitecustomize.py": ["loader.exec_module"],
}
CONTRACT = ("install", "remove", "pause", "resume")


def files(*places: str) -> list[Path]:
    return [
        file
        for place in places
        for file in ([PACKAGE / place] if place.endswith(".py") else sorted((PACKAGE / place).rglob("*.py")))
    ]


def of(path: Path) -> str:
    return str(path.relative_to(PACKAGE))


def stored(tree: ast.AST) -> Iterator[ast.Attribute]:
    """Attributes that are assigned to, in tuples, loops and with statements too; and those that setattr names."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "setattr":
            yield ast.Attribute(node.args[0], "setattr", ast.Store())


def of_others(source: str) -> list[str]:
    return [
        ast.unparse(target)
        for target in stored(ast.parse(source))
        if not (isinstance(target.value, ast.Name) and target.value.id == "self")
    ]


def is_callable(annotation: ast.expr) -> bool:
    """`Callable[...]` itself or an optional one; a collection of them is no slot."""
    text = ast.unparse(annotation).strip("'\"")
    return text.startswith("Callable[") or "| Callable[" in text


def constructors(tree: ast.AST) -> Iterator[tuple[ast.ClassDef, ast.FunctionDef | None]]:
    for kind in ast.walk(tree):
        if isinstance(kind, ast.ClassDef):
            yield kind, next((n for n in kind.body if isinstance(n, ast.FunctionDef) and n.name == "__init__"), None)


def arguments(init: ast.FunctionDef) -> Iterator[tuple[str, ast.expr | None, ast.expr | None]]:
    """Name, annotation and default of each that has a default."""
    given = init.args
    plain = [*given.posonlyargs, *given.args]
    with_default = zip(plain[len(plain) - len(given.defaults) :], given.defaults, strict=True)
    for argument, default in (*with_default, *zip(given.kwonlyargs, given.kw_defaults, strict=True)):
        if default is not None:
            yield argument.arg, argument.annotation, default


def is_slot(annotation: ast.expr | None, value: ast.expr | None) -> bool:
    """A callback that is None or does nothing until somebody sets it."""
    nothing = isinstance(value, ast.Constant) and value.value is None
    return isinstance(value, ast.Lambda) or (nothing and annotation is not None and is_callable(annotation))


def slots(source: str) -> list[str]:
    found = []
    for kind, init in constructors(ast.parse(source)):
        if init is not None:
            found += [
                f"{kind.name}({name})" for name, annotation, default in arguments(init) if is_slot(annotation, default)
            ]
        for node in [*kind.body, *(ast.walk(init) if init is not None else ())]:
            if isinstance(node, (ast.Assign, ast.AnnAssign)) and is_slot(getattr(node, "annotation", None), node.value):
                target = node.targets[0] if isinstance(node, ast.Assign) else node.target
                found.append(f"{kind.name}: {ast.unparse(target)}")
    return found


@each("path", files(*JOINING), of=of)
def test_nobody_assigns_to_the_attributes_of_another_object(path: Path) -> None:
    assert of_others(path.read_text()) == FOREIGN.get(of(path), [])


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("self.a = self.b, self.c = 1, 2", []),
        ("a.b = 1", ["a.b"]),
        ("self.a.b += 1", ["self.a.b"]),
        ("a.b: int = 1", ["a.b"]),
        ("self.a, (b, c.d) = x", ["c.d"]),
        ("for a.b in x: pass", ["a.b"]),
        ("setattr(a, name, 1)", ["a.setattr"]),
    ],
)
def test_the_rule_sees_every_kind_of_assignment(source: str, found: list[str]) -> None:
    assert of_others(source) == found


@each("path", files(*CALLED_BACK), of=of)
def test_no_callback_waits_to_be_set(path: Path) -> None:
    assert slots(path.read_text()) == []


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("def __init__(self, on_step: Callable[[int], None] | None = None): pass", ["A(on_step)"]),
        ("def __init__(self, *, on_step=lambda step: None): pass", ["A(on_step)"]),
        ("def __init__(self):\n  self.on_step: Callable[[int], None] = lambda step: None", ["A: self.on_step"]),
        ("def __init__(self):\n  self.on_step: Optional[int] | Callable[[int], None] = None", ["A: self.on_step"]),
        ("on_step: Callable[[int], None] | None = None", ["A: on_step"]),
        (
            (
                "def __init__(self, on_step: Callable[[int], None]):\n  self.on_step = on_step\n  self.heard: "
                "list[Callable[[int], None]] = []"
            ),
            [],
        ),
    ],
)
def test_the_rule_sees_every_kind_of_slot(body: str, found: list[str]) -> None:
    assert slots("class A:\n " + body.replace("\n", "\n ")) == found


def hooks() -> dict[str, type]:
    """Classes below hooks/ that can be installed."""
    modules = [
        importlib.import_module(info.name)
        for info in pkgutil.walk_packages(debugtracer.hooks.__path__, "debugtracer.hooks.")
    ]
    kinds = [
        kind
        for module in modules
        for _, kind in inspect.getmembers(module, inspect.isclass)
        if kind.__module__ == module.__name__
    ]
    return {
        kind.__name__: kind for kind in kinds if "install" in dir(kind) and kind.__name__ not in ("Hook", "HookSet")
    }


@pytest.mark.parametrize("name", hooks())
def test_a_hook_has_the_whole_contract(name: str) -> None:
    kind = hooks()[name]
    for method in CONTRACT:
        assert callable(getattr(kind, method, None)), f"no {method}()"
        given = inspect.signature(getattr(kind, method)).parameters
        assert all(p.default is not p.empty for p in list(given.values())[1:]), f"{method}() takes arguments"


def test_what_a_session_installs_has_the_whole_contract(tmp_path: Path) -> None:
    settings = Settings.from_env({}, out=tmp_path)
    recording = Recording(settings)
    replaying = Replaying(settings, recording)
    Diagnosing(settings, recording, replaying)
    installed = replaying.hooks.hooks
    assert [
        type(hook).__name__
        for hook in installed
        if not all(callable(getattr(hook, method, None)) for method in CONTRACT)
    ] == []
    assert {type(hook).__name__ for hook in installed} >= set(hooks())
    assert {name for name in CONTRACT if name in vars(Hook)} == set(CONTRACT)


@pytest.mark.parametrize(
    ("kind", "contracts"),
    [
        (EventSwitch, [LoopEvents]),
        (StepEvents, [LoopEvents]),
        (ObserverDispatcher, [TrainingEvents]),
        (Incidents, [AlarmListener, GateRanks, IncidentPolicy]),
        (OnStderr, [VerdictDisplay]),
    ],
)
def test_who_meets_a_contract_on_the_way_to_the_verdict_says_so(kind: type, contracts: list[type]) -> None:
    """From a method of the contract an editor finds who implements it."""
    assert set(contracts) <= set(kind.__mro__)
