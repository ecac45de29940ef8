"""Builders for tests of plug-ins: a window, the facts of an incident, a whole run folder. Needs no torch."""

from __future__ import annotations

from pathlib import Path

from debugtracer.causes.cause import Evidence, causes
from debugtracer.causes.incident_evidence import IncidentEvidence
from debugtracer.trace.birth import Birth, BirthKind, ChainLink, Direction, Frame, TensorFacts
from debugtracer.trace.events import AnyEvent, Incident, RankEnded, RankStarted
from debugtracer.trace.finding import Finding
from debugtracer.trace.incident import IncidentFacts, LoaderFacts, OptimizerFacts, ReplayFacts, Symptom
from debugtracer.trace.number import number
from debugtracer.trace.step import StepRef
from debugtracer.trace.verdict import Verdict
from debugtracer.trace.window import Window

AT = 1_700_000_000.0  # seconds since the epoch: the clock of all built events
TRAIN = "/home/someone/project/train.py"


def a_window(
    step: int = 8, *, flags: tuple[str, ...] = (), bad: tuple[str, ...] = (), **series: tuple[float, ...] | float
) -> Window:
    """A window whose last value of each given series belongs to `step`: `a_window(loss=(0.7, 0.6, math.nan))`."""
    values = {name: v if isinstance(v, tuple) else (v,) for name, v in series.items()}
    return Window(
        ref=StepRef(iteration=step, step=step), series=values, fresh=frozenset(values), flags=frozenset(flags), bad=bad
    )


def a_tensor(
    *values: float,
    shape: tuple[int, ...] = (32, 4),
    dtype: str = "float32",
    name: str = "",
    nan: int = 0,
    inf: int = 0,
    neginf: int = 0,
    made_by: str = "",
) -> TensorFacts:
    """Build facts of a tensor with these values at the bad coordinates; its finite range is theirs."""
    finite = [v for v in values if abs(v) < float("inf")]
    low, high = (min(finite), max(finite)) if finite else (None, None)
    return TensorFacts(
        name=name,
        shape=shape,
        dtype=dtype,
        nan=nan,
        posinf=inf,
        neginf=neginf,
        low=low,
        high=high,
        values=tuple(map(number, values)),
        made_by=made_by,
    )


def a_birth(
    op: str | None,
    *inputs: TensorFacts,
    kind: BirthKind = "domain",
    direction: Direction = "forward",
    output: TensorFacts | None = None,
    code: str = "",
    line: int = 47,
    module: str | None = "blocks.0.attn",
    **more: object,
) -> Birth:
    """A birth at train.py:47."""
    frames = (Frame(file=TRAIN, line=line, function="forward", code=code),)
    bad = output if output is not None else a_tensor(nan=4)
    return Birth(op=op, direction=direction, kind=kind, inputs=inputs, output=bad, frames=frames, module=module, **more)  # type: ignore[arg-type]


def some_facts(
    birth: Birth | None = None, *, symptom: Symptom = "nan_loss", step: int = 48, rank: int = 0, **more: object
) -> IncidentFacts:
    """The facts of an incident at `step` with that birth, a loader of 32 rows (dataset indices 900..931), Adam, and a
    bitwise tape replay."""
    known: dict[str, object] = {
        "symptom_frame": Frame(file=TRAIN, line=81, function="main", code="loss.backward()"),
        "loader": LoaderFacts(
            dataset="Reviews",
            dataset_len=4000,
            batch_size=32,
            indices=tuple(range(900, 932)),
            frame=Frame(file=TRAIN, line=66, function="main", code="loader = DataLoader(data, batch_size=32)"),
        ),
        "optimizer": OptimizerFacts(
            kind="Adam", frame=Frame(file=TRAIN, line=70, function="main"), lr=1e-3, eps=1e-8, param_dtypes=("float32",)
        ),
        "replay": ReplayFacts(
            mechanism="tape", reproduced=True, parity="bitwise", alarm_to_verdict_s=0.8, traced_slowdown=2.4
        ),
        "recent": {"loss": [0.693, 0.688, 0.671, 0.66, 0.652], "grad_l2": [1.2, 1.1, 1.3, 1.0, 1.1]},
        "loss": "NaN",
    }
    return IncidentFacts(
        ref=StepRef(iteration=step, step=step, rank=rank),
        symptom=symptom,
        birth=birth,
        **{**known, **more},  # type: ignore[arg-type]
    )


def a_masked_row() -> IncidentFacts:
    """The incident of the README: row 31 (sample 931) is fully masked, so softmax is NaN there."""
    scores = a_tensor(*[float("-inf")] * 8, shape=(32, 4, 12, 12), neginf=576, name="self")
    birth = a_birth(
        "aten::_softmax",
        scores,
        kind="inf-inf",
        output=a_tensor(shape=(32, 4, 12, 12), nan=576),
        code="weights = torch.softmax(scores, dim=-1)",
        rows=(31,),
        coordinates=((31, 0, 0, 0), (31, 0, 0, 1)),
        chain=(
            ChainLink(
                op="aten::_softmax",
                direction="forward",
                module="blocks.0.attn",
                file=TRAIN,
                line=47,
                nan=576,
                numel=18432,
            ),
            ChainLink(
                op="aten::bmm", direction="forward", module="blocks.0.attn", file=TRAIN, line=48, nan=768, numel=24576
            ),
            ChainLink(op="aten::nll_loss_forward", direction="forward", file=TRAIN, line=80, nan=1, numel=1),
        ),
    )
    return some_facts(birth, batch_rows=(31,), sample_index=(931,), bad_params=("embed.weight",))


def a_trace(
    folder: Path, *events: AnyEvent, steps: int = 49, ranks: int = 1, exit_code: int = 3, stopped: bool = True
) -> Path:
    """A finished run folder below `folder` with these events (each goes to its own rank), one loss value per step;
    returns its path."""
    from debugtracer.trace.store.manifest import create_run
    from debugtracer.trace.store.writer import TraceWriter

    run = create_run(folder, "run-1", ["train.py"], "dev")
    for rank in range(ranks):
        writer = TraceWriter(run, rank)
        writer.event(RankStarted(at=AT, rank=rank, pid=1, world_size=ranks))
        for step in range(steps):
            writer.point(step, {"loss": 1.0 / (1 + step)})
        for event in events:
            if event.rank == rank:
                writer.event(event, now=True)
        writer.event(
            RankEnded(at=AT + 9, rank=rank, steps=steps, iterations=steps, wall_s=9.0, own_s=0.09, host_syncs=steps)
        )
        writer.close()
    finish(run, exit_code, stopped)
    return run


def an_incident(
    facts: IncidentFacts, verdict: Verdict | None, folder: str | None = "incidents/step-000048-rank0"
) -> Incident:
    """Build the event of an incident, as it is in the events file."""
    return Incident(at=AT + 5, rank=facts.ref.rank, facts=facts, verdict=verdict, folder=folder)


def a_finding(
    check: str = "numerics/nan-loss",
    severity: str = "error",
    step: int = 48,
    message: str = "step 48, rank 0: the loss is nan",
) -> Finding:
    """Build a finding of a check, at a step of rank 0."""
    return Finding(
        check=check,
        layer=check.split("/")[0],  # type: ignore[arg-type]
        severity=severity,  # type: ignore[arg-type]
        iteration=step,
        step=step,
        message=message,
    )


def finish(run: Path, exit_code: int, stopped: bool) -> None:
    """Write what the supervisor writes at the end."""
    from debugtracer.trace.store.manifest import end_run

    end_run(run, exit_code, stopped)


def evidence_of(slug: str, facts: IncidentFacts) -> Evidence | None:
    """The evidence that these facts are for one cause."""
    return causes()[slug].evidence_from_incident(IncidentEvidence(facts))


signs_of = evidence_of  # its former name, in tests of plug-ins written before
