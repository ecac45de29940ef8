"""The sentences of a verdict, as rows of label, text and style; the same words in every text view."""

from __future__ import annotations

import math
import os
from pathlib import Path

from debugtracer.trace.birth import ChainLink, TensorFacts
from debugtracer.trace.events import Acted, Crashed
from debugtracer.trace.incident import SYMPTOMS, IncidentFacts, LoaderFacts
from debugtracer.trace.number import Number
from debugtracer.trace.verdict import Verdict
from debugtracer.trace.whole_dataset import WholeDataset
from debugtracer.views.view import Row

MECHANISMS = {
    "tape": "the recorded step was executed again in place",
    "re-yield": "the batch was fetched again and the step repeated",
    "forward-only": "the forward of the root module was executed again",
    "lines": "the lines of the function in flight were computed again with the values that it holds",
    "graph": "the call that made the bad value was computed again with what the graph of the loss keeps of it",
    "flight-record": "nothing was executed again; this is the flight record alone",
}


def path(file: Path | str) -> str:
    """A path below the current folder without it; else as it is."""
    file = Path(file)
    try:
        return str(file.relative_to(os.getcwd())) or "."
    except ValueError:
        return str(file)


def at(file: str, line: int | None) -> str:
    """Format a line: `train.py:61`, or `cell In[3], line 7` in a notebook."""
    return f"cell {file}, line {line}" if file.startswith("In[") else f"{path(file)}:{line}"


def number(value: Number | None) -> str:
    """Format with four digits, or `unknown` for None."""
    return "unknown" if value is None else f"{float(value):.4g}"


def title(facts: IncidentFacts, verdict: Verdict) -> str:
    """The first line: symptom and place in the run."""
    ranks = f" of {facts.world_size}" if facts.world_size > 1 else ""
    return f"debug-tracer: {SYMPTOMS[facts.symptom]} at {facts.ref}{ranks}"


def what(facts: IncidentFacts, verdict: Verdict) -> list[Row]:
    """The rows that say what it is and how sure that is."""
    if verdict.kind is None:
        return [("what", verdict.summary.split("; ", 1)[-1], "bold")]
    because = verdict.summary.split(" because ", 1)[-1].split("; ")[0]
    return [
        ("what", because, "bold"),
        ("", f"{verdict.kind}, {verdict.status} (confidence {verdict.confidence:.2f})", ""),
    ]


def where(facts: IncidentFacts, verdict: Verdict) -> list[Row]:
    """The rows of line, source, op, module and direction."""
    rows: list[Row] = []
    if verdict.file:
        rows.append(("where", f"{at(verdict.file, verdict.line)}{function(facts, verdict)}", "bold"))
        code = source(facts, verdict)
        if code:
            rows.append(("", f"    {code}", "cyan"))
    parts = [
        verdict.op or "",
        verdict.direction or "",
        "" if verdict.module is None else f"module {verdict.module or '(root)'}",
    ]
    if verdict.backward_op:
        parts.append(f"ran {verdict.backward_op}")
    if any(parts):
        rows.append(("where" if not rows else "", ", ".join(p for p in parts if p), ""))
    inside = facts.birth.library if facts.birth is not None else None
    if inside is not None and (inside.file, inside.line) != (verdict.file, verdict.line):
        rows.append(("", f"the op runs inside {at(inside.file, inside.line)}  {inside.code}".rstrip(), "dim"))
    if facts.symptom_frame and (facts.symptom_frame.file, facts.symptom_frame.line) != (verdict.file, verdict.line):
        rows.append(
            (
                "",
                (
                    f"it showed at {at(facts.symptom_frame.file, facts.symptom_frame.line)}  {facts.symptom_frame.code}"
                ).rstrip(),
                "dim",
            )
        )
    return rows


def source(facts: IncidentFacts, verdict: Verdict) -> str:
    """The source text of the verdict's line, "" if unknown."""
    return next((f.code for f in facts.frames() if (f.file, f.line) == (verdict.file, verdict.line) and f.code), "")


def function(facts: IncidentFacts, verdict: Verdict) -> str:
    """Format the function of the verdict's line: ` in forward`."""
    name = next((f.function for f in facts.frames() if (f.file, f.line) == (verdict.file, verdict.line)), "")
    return f" in {name}" if name and name != "<module>" else ""


def sample(facts: IncidentFacts, verdict: Verdict) -> list[Row]:
    """The rows of batch rows, dataset indices and the line of the loader."""
    rows: list[Row] = []
    if verdict.batch_rows:
        which = f"row{'s' if len(verdict.batch_rows) > 1 else ''} {listed(verdict.batch_rows)} of the batch"
        if verdict.sample_index:
            which += f" = dataset index {listed(verdict.sample_index)}"
        rows.append(("sample", which, "bold"))
    elif verdict.sample_index:
        rows.append(("sample", f"dataset index {listed(verdict.sample_index)}", "bold"))
    elif facts.loader is not None and facts.birth is not None:
        rows.append(("sample", "no single row of the batch can be named", ""))
    if facts.loader is not None and verdict.sample_index:
        rows += [("", told, "bold") for told in in_whole(facts.loader, verdict.sample_index)]
    if facts.loader is not None:
        rows.append(("sample" if not rows else "", loader(facts), "dim"))
    return rows


def in_whole(known: LoaderFacts, samples: tuple[int, ...]) -> list[str]:
    """What samples of a Subset are in the dataset below it."""
    found = known.in_whole(samples)
    if known.whole is None or found is None:
        return []
    return [WholeDataset(name=known.whole.name, indices=found).words(samples)]


def loader(facts: IncidentFacts) -> str:
    """The dataset and where its loader was built."""
    known = facts.loader
    assert known is not None
    size = f" of {known.dataset_len} samples" if known.dataset_len is not None else ""
    built = f", loader built at {at(known.frame.file, known.frame.line)}" if known.frame else ""
    return f"from {known.dataset or 'a dataset'}{size}{built}"


def listed(numbers: tuple[int, ...], most: int = 8) -> str:
    """Format numbers: `3, 7, 9 and 5 more`; a run of neighbours as `0-31`."""
    if len(numbers) > 2 and numbers == tuple(range(numbers[0], numbers[0] + len(numbers))):
        return f"{numbers[0]}-{numbers[-1]}"
    return ", ".join(map(str, numbers[:most])) + (f" and {len(numbers) - most} more" if len(numbers) > most else "")


def since(facts: IncidentFacts, verdict: Verdict) -> list[Row]:
    """The rows of the first bad step and the last healthy values."""
    ref = facts.ref
    call = "" if ref.iteration == ref.step else f" (backward call {ref.iteration})"
    rows = [("since", f"step {ref.step}{call}", "bold")]
    for name, label in (("loss", "loss"), ("grad_l2", "gradient norm")):
        values = facts.recent.get(name, [])[-5:]
        if values:
            now = {"loss": facts.loss, "grad_l2": facts.grad_l2}[name]
            rows.append(
                (
                    "",
                    f"{label} before: {' '.join(map(number, values))}"
                    + (f"; now {number(now)}" if now is not None else ""),
                    "",
                )
            )
    return rows


def seen(facts: IncidentFacts) -> list[Row]:
    """The rows of values in, counts out, the way of the bad value and the optimizer."""
    birth = facts.birth
    if birth is None:
        return [("param", f"non-finite: {some(facts.bad_params)}", "")] if facts.bad_params else []
    rows: list[Row] = []
    if birth.inner_op and birth.inner_op != birth.op:
        rows.append(("inside", f"{birth.inner_op} (a part of {birth.op})", ""))
    rows += [
        ("in" if i == 0 else "", tensor(t, f"input {i}"), "")
        for i, t in enumerate(birth.inputs[:4])
        if birth.kind != "input"
    ]
    if birth.output:
        rows.append(
            (
                "out" if birth.kind != "input" else "tensor",
                tensor(birth.output, birth.input_name or "", birth.coordinates),
                "",
            )
        )
    if birth.flushed_share:
        rows.append(
            ("lost", f"{birth.flushed_share:.1%} of the gradient elements were flushed to zero by the dtype", "")
        )
    if len(birth.chain) > 1:
        rows += [("way" if i == 0 else "", link, "") for i, link in enumerate(chain(birth.chain))]
    if facts.bad_params:
        rows.append(("param", f"non-finite: {some(facts.bad_params)}", ""))
    if birth.direction == "update" and facts.optimizer:
        rows.append(("optim", optimizer(facts), ""))
    return rows


def optimizer(facts: IncidentFacts) -> str:
    """The optimizer's settings that matter to its arithmetic."""
    known = facts.optimizer
    assert known is not None
    parts = [
        f"lr {number(known.lr)}" if known.lr is not None else "",
        f"eps {number(known.eps)}" if known.eps is not None else "",
    ]
    return ", ".join(
        p for p in [known.kind, *parts, f"parameters {'/'.join(known.param_dtypes)}" if known.param_dtypes else ""] if p
    )


def some(names: tuple[str, ...]) -> str:
    """Format names: `embed.weight and 11 more`."""
    return names[0] + (f" and {len(names) - 1} more" if len(names) > 1 else "")


def tensor(facts: TensorFacts, name: str = "", coordinates: tuple[tuple[int, ...], ...] = ()) -> str:
    """Format a tensor: `scores float32 [32, 4, 12]: 576 of 1536 -inf, finite -2 .. 3; there: -inf, -inf`."""
    of = math.prod(facts.shape)
    bad = [
        f"{count} of {of} {word}"
        for count, word in ((facts.nan, "NaN"), (facts.posinf, "+inf"), (facts.neginf, "-inf"))
        if count
    ]
    span = (
        f"finite {number(facts.low)} .. {number(facts.high)}"
        if facts.low is not None and facts.high is not None
        else ""
    )
    there = f"there: {', '.join(map(number, facts.values[:4]))}" if facts.values and not coordinates else ""
    at = f"first at {list(coordinates[0])}" if coordinates else ""
    head = " ".join(filter(None, (facts.name or name, facts.dtype.removeprefix("torch."), str(list(facts.shape)))))
    return f"{head}: " + ("; ".join(filter(None, (", ".join(bad), span, there, at))) or "finite")


def chain(links: tuple[ChainLink, ...]) -> list[str]:
    """The way from birth to loss, at most 6 lines."""
    shown = links if len(links) <= 6 else (*links[:3], None, *links[-2:])
    return [f"... {len(links) - 5} ops between" if link is None else one(link, i) for i, link in enumerate(shown)]


def one(link: ChainLink, place: int) -> str:
    """Format one link of the chain: `-> bmm train.py:48 blocks.0.attn: 768 of 24576 NaN`."""
    at = f" {Path(link.file).name}:{link.line}" if link.file else ""
    counts = [f"{n} of {link.numel} {word}" for n, word in ((link.nan, "NaN"), (link.inf, "Inf")) if n]
    backward = " (backward)" if link.direction == "backward" else ""
    return (
        f"{'-> ' if place else ''}{link.op.removeprefix('aten::')}{backward}{at}"
        f"{' ' + link.module if link.module else ''}: {', '.join(counts) or 'bad'}"
    )


def replayed(facts: IncidentFacts) -> list[Row]:
    """How the step was executed again, and how same it was."""
    known = facts.replay
    if known is None:
        return [("replay", "the step was not executed again", "")]
    slow = f"; traced, the step took {known.traced_slowdown:.3g}x as long" if known.traced_slowdown is not None else ""
    how = f"{MECHANISMS[known.mechanism]}{known.older_weights}: {known.parity}"
    rows = [("replay", f"{how}; verdict {known.alarm_to_verdict_s:.2g} s after the alarm{slow}", "")]
    rows += [("", f"not used: {why}", "dim") for why in known.refused]
    rows += anomaly(facts)
    return rows + ([("note", facts.note, "")] if facts.note else [])


def anomaly(facts: IncidentFacts) -> list[Row]:
    """What torch's anomaly mode says of the same step."""
    said = facts.replay.anomaly if facts.replay is not None else ""
    born = facts.birth.output if facts.birth is not None else None
    later = " (it looks for NaN, not for the infinity before it)" if born is not None and not born.nan else ""
    return [("torch", f"anomaly mode says: {said}{later}", "")] if said else []


def crash(event: Crashed) -> str:
    """Format a crash: `ValueError: ... at train.py:34, step 50`."""
    place = f" at {at(event.frames[0].file, event.frames[0].line)}" if event.frames else ""
    return (
        f"{event.error}: {event.message.splitlines()[0] if event.message else ''}{place}, step {event.step}, backward "
        f"call {event.iteration}"
    )


def action(event: Acted, above: Verdict | None = None) -> str:
    """Where, and why; what the verdict above says, and a reason that already says where, are not said twice."""
    where = f"step {event.step}, rank {event.rank}: "
    return where + (
        "for the verdict above"
        if above is not None and event.reason == above.summary
        else event.reason.removeprefix(where)
    )
