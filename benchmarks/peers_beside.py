"""Run a program with a peer attached, as the peer's manual says, and keep what it says: neuraldbg, torchlens or bare.

    python benchmarks/peers_beside.py --peer neuraldbg --keep said.json train.py [ARGUMENT ...]

The program is not edited. Where its user would wrap the model, this does: the models are those whose parameters an
optimizer takes when it is made; a loss is what `backward` is called on; a step is one of the optimizer. The peers are
packages of other people, which `pip install neuraldbg torchlens` brings into an environment of their own."""

from __future__ import annotations

import argparse
import gc
import importlib
import json
import runpy
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.optim.optimizer import register_optimizer_step_post_hook

FAILURES = (
    "vanishing_gradients",
    "exploding_gradients",
    "dead_neurons",
    "saturated_activations",
    "optimizer_instability",
    "data_anomaly",
    "gradient_health_transition",
    "activation_regime_shift",
)
SHOWN = 12  # rows of one kind that are kept; the others are counted


def trained_by(optimizer: torch.optim.Optimizer) -> list[nn.Module]:
    """The outermost modules that hold a parameter of this optimizer."""
    held = {id(tensor) for group in optimizer.param_groups for tensor in group["params"]}
    found = [
        each
        for each in gc.get_objects()
        if issubclass(type(each), nn.Module) and any(id(tensor) in held for tensor in each.parameters())
    ]
    inner = {id(part) for module in found for part in module.modules() if part is not module}
    return [module for module in found if id(module) not in inner]


class Bare:
    """Nothing attached: what the program costs by itself."""

    def made(self, optimizer: torch.optim.Optimizer) -> None:
        """An optimizer was made."""

    def before_backward(self) -> None:
        """A loss is about to go backward."""

    def backward(self, loss: torch.Tensor) -> None:
        """A loss went backward."""

    def stepped(self, optimizer: torch.optim.Optimizer) -> None:
        """An optimizer made a step."""

    def said(self) -> dict[str, Any]:
        """What the peer says once the program has ended."""
        return {}


class NeuralDbg(Bare):
    """`with NeuralDbg(model)` around the loop, `record_loss` after each backward, its questions at the end."""

    def __init__(self) -> None:
        self.make = importlib.import_module("neuraldbg").NeuralDbg
        self.watching: dict[int, Any] = {}
        self.pending: list[float] = []

    def made(self, optimizer: torch.optim.Optimizer) -> None:
        for model in trained_by(optimizer):
            if id(model) not in self.watching:
                self.watching[id(model)] = self.make(model).__enter__()

    def backward(self, loss: torch.Tensor) -> None:
        if loss.numel() == 1:
            self.pending.append(loss.item())

    def stepped(self, optimizer: torch.optim.Optimizer) -> None:
        held = {id(tensor) for group in optimizer.param_groups for tensor in group["params"]}
        for each in self.watching.values():
            if any(id(tensor) in held for tensor in each.model.parameters()):
                for value in self.pending:
                    each.record_loss(value)
                each.step_iteration()
        self.pending.clear()

    def said(self) -> dict[str, Any]:
        return {"models": [self.of_one(each) for each in self.watching.values()]}

    def of_one(self, each: Any) -> dict[str, Any]:
        """Its events by kind with the first of each, and its answers to the questions of its manual."""
        kinds: dict[str, dict[str, Any]] = {}
        for event in each.get_events():
            states = [getattr(state, "value", str(state)) for state in (event.from_state, event.to_state)]
            kind = f"{event.event_type.value}: {' to '.join(states)}"
            row = kinds.setdefault(kind, {"n": 0, "step": event.step, "layer": event.layer_name})
            row["n"] += 1
        answers = {name: [one.description for one in each.explain_failure(name)] for name in FAILURES}
        return {
            "model": type(each.model).__name__,
            "steps": each.step,
            "events": kinds,
            "explain_failure": {name: {"n": len(all_), "first": all_[:3]} for name, all_ in answers.items() if all_},
            "causal_hypotheses": [str(one) for one in each.get_causal_hypotheses()],
            "root_causes": [str(one) for one in each.get_root_causes()],
        }


class TorchLens(Bare):
    """A ChecksSession for each model with the checks of its manual, each with its default action; at the end the audits
    of the parameters and of a trace of the last batch, and its report of NaN."""

    def __init__(self) -> None:
        self.checks = importlib.import_module("torchlens.checks")
        self.optimizers: dict[int, list[torch.optim.Optimizer]] = {}
        self.models: dict[int, nn.Module] = {}
        self.sessions: dict[int, Any] = {}
        self.ended: list[Any] = []
        self.last: dict[int, tuple[tuple[Any, ...], dict[str, Any]]] = {}

    def __reduce__(self) -> tuple[Callable[[], Bare], tuple[()]]:
        """A program that saves a whole model saves the hook of this too."""
        return TorchLens, ()

    def made(self, optimizer: torch.optim.Optimizer) -> None:
        for model in trained_by(optimizer):
            key = id(model)
            if key not in self.models:
                self.models[key] = model
                model.register_forward_pre_hook(self.noting, with_kwargs=True)
            self.optimizers[key] = [each for each in self.optimizers.get(key, []) if not shared(each, optimizer)] + [
                optimizer
            ]
            if key in self.sessions:
                self.ended.append(self.sessions.pop(key))
                self.ended[-1].detach()

    def noting(self, model: nn.Module, given: tuple[Any, ...], named: dict[str, Any]) -> None:
        """Hold the last batch on which gradients were wanted."""
        if torch.is_grad_enabled():
            self.last[id(model)] = given, named

    def before_backward(self) -> None:
        for key, model in self.models.items():
            if key not in self.sessions:
                self.sessions[key] = self.attached(model, self.optimizers[key])

    def attached(self, model: nn.Module, optimizers: list[torch.optim.Optimizer]) -> Any:
        """A session with every check that needs no threshold of the user."""
        scalers = [each for each in gc.get_objects() if issubclass(type(each), torch.amp.GradScaler)]
        scaler = next((each for each in scalers if each.is_enabled()), None)
        session = self.checks.ChecksSession(model, optimizers, scaler=scaler)
        session.register_change_check()
        session.register_nonfinite_gradient_check()
        session.register_nonfinite_param_check()
        session.register_magnitude_check()
        return session.attach()

    def said(self) -> dict[str, Any]:
        for key in self.sessions:
            self.ended.append(self.sessions[key])
        reports = [session.report() for session in self.ended]
        for session in self.sessions.values():
            session.detach()
        return {
            "findings": by_check([found for report in reports for found in report.findings]),
            "unavailable": sorted({f"{name}: {why}" for report in reports for name, why in report.unavailable}),
            "audit_params": {self.name(key): self.audited(model) for key, model in self.models.items()},
            "last_batch": {self.name(key): self.of_batch(key) for key in self.last},
        }

    def name(self, key: int) -> str:
        """The class of a model."""
        return type(self.models[key]).__name__

    def audited(self, model: nn.Module) -> list[str]:
        """What it says of the parameters and buffers at the end."""
        found = self.checks.audit_params(model).findings
        return [f"{one.severity} {one.check}: {one.message}" for one in found][:SHOWN]

    def of_batch(self, key: int) -> dict[str, Any]:
        """Its report of NaN and its audit of a trace, on the last batch of a model."""
        lens = importlib.import_module("torchlens")
        given, named = self.last[key]
        model, told = self.models[key], dict[str, Any]()
        try:
            report = lens.debug.nan_report(model, list(given), input_kwargs=named or None)
            told["nan_report"] = report.summary()[:400]
        except Exception as error:
            told["nan_report"] = f"failed: {type(error).__name__}: {str(error)[:300]}"
        try:
            audit = lens.debug.audit_trace(lens.trace(model, list(given), input_kwargs=named or None))
            rows = [f"{one.severity} {one.check}: {one.message}" for one in audit.findings]
            told["audit_trace"] = {"n": len(rows), "first": [row[:300] for row in rows[:3]]}
        except Exception as error:
            told["audit_trace"] = f"failed: {type(error).__name__}: {str(error)[:300]}"
        return told


def shared(one: torch.optim.Optimizer, other: torch.optim.Optimizer) -> bool:
    """Whether two optimizers hold a parameter in common: the newer has taken the place of the older."""
    held = {id(tensor) for group in one.param_groups for tensor in group["params"]}
    return any(id(tensor) in held for group in other.param_groups for tensor in group["params"])


def by_check(findings: list[Any]) -> list[dict[str, Any]]:
    """The findings of a ChecksSession, a row for each check and severity: how many, and the first in words."""
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    for found in findings:
        first = {"step": found.accepted_step_id, "message": found.message[:400], "names": list(found.names)[:SHOWN]}
        key = found.check, found.severity
        row = rows.setdefault(key, {"check": found.check, "severity": found.severity, "n": 0, **first})
        row["n"] += 1
    return list(rows.values())


PEERS: dict[str, Callable[[], Bare]] = {"bare": Bare, "neuraldbg": NeuralDbg, "torchlens": TorchLens}


@contextmanager
def attached(peer: Bare) -> Iterator[None]:
    """Tell the peer of optimizers, losses and steps."""
    init: Callable[..., None] = torch.optim.Optimizer.__init__
    backward: Callable[..., None] = torch.Tensor.backward

    def made(self: torch.optim.Optimizer, *given: Any, **named: Any) -> None:
        init(self, *given, **named)
        peer.made(self)

    def went(self: torch.Tensor, *given: Any, **named: Any) -> None:
        peer.before_backward()
        backward(self, *given, **named)
        peer.backward(self)

    def stepped(optimizer: torch.optim.Optimizer, given: Any, named: Any) -> None:
        peer.stepped(optimizer)

    hook = register_optimizer_step_post_hook(stepped)
    torch.optim.Optimizer.__init__, torch.Tensor.backward = made, went  # type: ignore[method-assign]
    try:
        yield
    finally:
        torch.optim.Optimizer.__init__, torch.Tensor.backward = init, backward  # type: ignore[method-assign]
        hook.remove()


def run(peer: Bare, program: Path, arguments: list[str]) -> dict[str, Any]:
    """Run the program as `python program arguments` would, and give its CPU seconds, its error and what was said."""
    sys.argv = [str(program), *arguments]
    sys.path[0] = str(program.resolve().parent)
    error, begin = None, time.process_time()
    with attached(peer):
        try:
            runpy.run_path(str(program), run_name="__main__")
        except SystemExit as ended:
            error = f"SystemExit: {ended.code}" if ended.code else None
        except BaseException:
            error = traceback.format_exc()[-1500:]
    spent = time.process_time() - begin
    try:
        said = peer.said()
    except Exception:
        said = {"failed": traceback.format_exc()[-1500:]}
    return {"cpu_s": round(spent, 2), "error": error, "said": said}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peer", choices=list(PEERS), default="bare")
    parser.add_argument("--keep", type=Path, required=True, help="the file for what was said")
    parser.add_argument("program", type=Path)
    parser.add_argument("arguments", nargs=argparse.REMAINDER)
    args = parser.parse_args()
    kept, told = args.keep.resolve(), run(PEERS[args.peer](), args.program, args.arguments)
    kept.write_text(json.dumps({"peer": args.peer, **told}, indent=1, default=str) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
