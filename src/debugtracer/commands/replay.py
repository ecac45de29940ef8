"""`debug-tracer replay`: an incident executed again offline, and whether the same value is born at the same place."""

from __future__ import annotations

import inspect
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
import typer

from debugtracer.commands._remedies import LIST, list_remedies, remedies_known, try_remedies
from debugtracer.errors import CapsuleError
from debugtracer.trace.birth import Birth
from debugtracer.trace.file_line import file_line
from debugtracer.trace.number import number
from debugtracer.trace.store.schema import CAPSULE, INCIDENTS, MANIFEST

if TYPE_CHECKING:
    from torch import Tensor

    from debugtracer.recorder.capsule.capsule import Capsule
    from debugtracer.replay.offline.offline import OfflineResult

SCHEMA = "debug-tracer.replay/1"


def replay(
    incident: Annotated[
        Path,
        typer.Argument(
            help="An incident folder (RUN/incidents/step-...), or a run with one incident.", show_default=False
        ),
    ],
    device: Annotated[
        str | None,
        typer.Option(
            help="Where to execute it: cpu, cuda, cuda:1, ...; default: as recorded if there is one here, else cpu."
        ),
    ] = None,
    dtype: Annotated[
        str | None,
        typer.Option(
            help="Execute every floating tensor as float64, float32, bfloat16 or float16; default: as recorded."
        ),
    ] = None,
    eager: Annotated[
        bool,
        typer.Option(
            "--eager", help="Without compiled regions; a capsule holds none in this version, so this is always so."
        ),
    ] = False,
    remedies: Annotated[
        list[str] | None,
        typer.Option(
            "--with",
            metavar="NAME[=VALUE]",
            help="Try a remedy on the recorded step; may be given again, each is tried alone; `all` tries every one, "
            "`list` tells which ones this step allows.",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout, for programs.")] = False,
) -> None:
    """Execute an incident again, offline: no user code, no script, also on another machine.

    Ends with status 0 if the same value is born in the same place, 1 if not, 2 if the incident cannot be read.
    With --with: 0 if a remedy could be tried, whether it healed the step or not, 2 if none could."""
    from debugtracer.recorder.capsule.capsule import load_capsule
    from debugtracer.replay.offline.rebirth import birth_offline, same_birth

    folder = incident_folder(incident)
    capsule = load_capsule(folder)
    if remedies == [LIST]:
        sys.stdout.write(list_remedies(capsule, as_json))
        return
    if remedies:
        sys.stdout.write(
            try_remedies(capsule, remedies, dtype=dtype, device=device or recorded_device(capsule), as_json=as_json)
        )
        return
    result, birth = birth_offline(capsule, dtype=dtype, device=device or recorded_device(capsule))
    same = same_birth(birth, capsule.head.facts.birth)
    told = as_data(capsule, result, birth, same) if as_json else as_text(capsule, result, birth, same)
    sys.stdout.write(told)
    raise typer.Exit(0 if same else 1)


replay.__doc__ = f"{inspect.getdoc(replay)}\n\n\b\nRemedies for --with:\n{remedies_known()}"


def recorded_device(capsule: Capsule) -> str:
    """The device of the step if this machine has that kind, else the CPU."""
    from debugtracer.devices.present import device

    kind = capsule.head.device.partition(":")[0]
    return kind if device(kind).usable() else "cpu"


def incident_folder(path: Path) -> Path:
    """The incident itself, or the only one of a run. Raises CapsuleError."""
    if not path.is_dir():
        raise CapsuleError(
            f"{path} is not a folder; expected an incident such as RUN/incidents/step-000012-rank0, or a run with one "
            "incident"
        )
    if (path / CAPSULE).exists() or not (path / MANIFEST).exists():
        return path
    found = sorted(inner for inner in (path / INCIDENTS).glob("*") if inner.is_dir() and not inner.name.startswith("."))
    if len(found) == 1:
        return found[0]
    if not found:
        raise CapsuleError(
            f"the run {path} holds no incident that can be replayed; `debug-tracer report {path}` says what was seen"
        )
    raise CapsuleError(
        f"the run {path} holds {len(found)} incidents, name one of them: {', '.join(str(inner) for inner in found)}"
    )


def as_data(capsule: Capsule, result: OfflineResult, birth: Birth | None, same: bool) -> str:
    """The replay as one JSON object."""
    facts = capsule.head.facts
    answer: dict[str, Any] = {
        "schema": SCHEMA,
        "incident": str(capsule.folder),
        "step": facts.ref.step,
        "rank": facts.ref.rank,
        "same_birth": same,
        "ops": result.ops,
        "seconds": round(result.seconds, 4),
        "device": result.device,
        "dtype": result.dtype,
        "as_recorded": sorted(result.as_recorded),
        "parity": result.parity,
        "precision": precision(capsule, result),
        "targets": {name: "bitwise" if gap is None else number(gap) for name, gap in result.distance.items()},
        "birth": msgspec.to_builtins(birth),
        "recorded_birth": msgspec.to_builtins(facts.birth),
    }
    return json.dumps(answer, indent=1, allow_nan=False) + "\n"


def as_text(capsule: Capsule, result: OfflineResult, birth: Birth | None, same: bool) -> str:
    """The replay for a person: is it the same, where was it born, how same was the replay."""
    from debugtracer.diagnosis.proof.rank import rank
    from debugtracer.views.terminal import TerminalPage
    from debugtracer.views.words import wording

    page = TerminalPage(sys.stdout.isatty(), 100)
    facts = msgspec.structs.replace(capsule.head.facts, birth=birth)
    page.console.print(
        f"debug-tracer: {facts.ref} replayed: {headline(capsule, birth, same)}", style="bold", soft_wrap=True
    )
    if birth is not None:
        verdict = capsule.head.verdict if same and capsule.head.verdict is not None else rank(facts)
        page.rows(
            [
                *wording.what(facts, verdict),
                *wording.where(facts, verdict),
                *wording.sample(facts, verdict),
                *wording.seen(facts),
                *(wording.anomaly(facts) if same else []),
            ]
        )
    answer = precision(capsule, result)
    if answer:
        page.rows([("dtype", answer, "bold")])
    how = f"{result.dtype}" if answer else f"{result.dtype or 'dtypes as recorded'}: {result.parity}"
    page.rows([("replay", f"{result.ops} operators in {result.seconds:.2g} s on {result.device}, {how}", "")])
    if result.as_recorded:
        page.rows([("", f"in the recorded dtype, having no other: {', '.join(sorted(result.as_recorded))}", "dim")])
    if not same:
        page.rows([("next", advice(capsule, result, birth), "")])
    return page.text()


def headline(capsule: Capsule, birth: Birth | None, same: bool) -> str:
    """The answer in one phrase."""
    recorded = capsule.head.facts.birth
    if same:
        return "the same birth as in the run"
    if birth is None:
        return "no bad value reached the loss or a gradient" + (
            f"; in the run it was born in {place(recorded)}" if recorded else ""
        )
    return f"born in {place(birth)}; " + (
        f"in the run it was born in {place(recorded)}" if recorded else "the run had found no birth"
    )


def place(birth: Birth) -> str:
    """Format the place of a birth: `aten::log at train.py:61`."""
    what = birth.op or birth.input_name or "an input"
    return f"{what} at {file_line(birth.frame)}" if birth.frame else what


def precision(capsule: Capsule, result: OfflineResult) -> str | None:
    """Say whether another dtype keeps the step finite, with the values; None when it was replayed as recorded."""
    if result.dtype is None or not result.targets:
        return None
    bad = {name: word(tensor) for name, tensor in result.targets.items() if word(tensor)}
    before = {target.name: spoken(capsule.blobs.get(f"target/{n}")) for n, target in enumerate(capsule.program.targets)}
    name = "loss" if "loss" in (bad or result.targets) else next(iter(bad or result.targets))
    value, recorded = f"{name} {spoken(result.targets[name])}", f"recorded {before.get(name, 'unknown')}"
    if not bad:
        return f"finite in {result.dtype}: a matter of precision or range ({value}, {recorded})"
    end = (
        "not precision"
        if wider(capsule, result)
        else "only a wider dtype can tell whether it is precision: --dtype float64"
    )
    if result.as_recorded:
        end = (
            f"it cannot be told whether it is precision, for {len(result.as_recorded)} operators have no kernel in "
            f"{result.dtype}"
        )
    return f"{bad[name]} also in {result.dtype}: {end} ({value}, {recorded})"


def wider(capsule: Capsule, result: OfflineResult) -> bool:
    """Whether the replay computed in more bits than the widest dtype of the recorded targets."""
    import torch

    held = [
        blob.dtype
        for n in range(len(capsule.program.targets))
        if (blob := capsule.blobs.get(f"target/{n}")) is not None and blob.is_floating_point()
    ]
    here = torch.finfo(getattr(torch, result.dtype or "float32")).bits
    return all(here > torch.finfo(dtype).bits or here == 64 for dtype in held)


def word(tensor: Tensor) -> str:
    """Return NaN or Inf if the tensor holds any, else nothing. Syncs the host."""
    return "NaN" if bool(tensor.isnan().any()) else "Inf" if bool(tensor.isinf().any()) else ""


def spoken(tensor: Tensor | None) -> str:
    """The value of a scalar; of a tensor what is bad in it, or its largest size."""
    if tensor is None or not tensor.numel():
        return "unknown"
    if tensor.numel() == 1:
        return f"{tensor.item():.6g}"
    return word(tensor) or f"up to {tensor.abs().max().item():.4g}"


def advice(capsule: Capsule, result: OfflineResult, birth: Birth | None) -> str:
    """What to do when the replay did not meet the recorded birth."""
    head = capsule.head
    if result.dtype and birth is None:
        return (
            f"in {result.dtype} the step is healthy: the recorded dtype lost the value; compute that operator in "
            f"{result.dtype} or keep its input in range"
        )
    if result.dtype or result.device.partition(":")[0] != head.device.partition(":")[0]:
        return f"replay it as recorded (--device {head.device}, no --dtype) to tell the machine from the arithmetic"
    if result.parity != "bitwise":
        return (
            f"the replay is not the recorded step ({result.parity}); it was recorded with torch {head.torch}: replay "
            "it with that version"
        )
    return "the step repeats bitwise and the birth does not: please report this incident folder"
