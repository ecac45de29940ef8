"""The sentences about a run as a whole: how it went without an incident, the state of its layers, what watching
cost."""

from __future__ import annotations

import signal
from typing import Any

from debugtracer.trace.counted import counted
from debugtracer.trace.finding import Finding
from debugtracer.views.view import Row
from debugtracer.views.words import log_read

LEFT_OUT = {"the norm of the gradients", "whole steps"}  # where they rest, not every number was read


def quiet(report: dict[str, Any], crashed: bool, loud: list[Finding]) -> str:
    """The first line of a run without an incident."""
    run = report["run"]
    if "skipped" in run and not loud:
        return (
            f"debug-tracer: run {run['id']} cannot be judged: {counted(len(run['skipped']), 'damaged place')} of its "
            "files skipped; what can be read holds nothing bad"
        )
    if "log" in run:
        end = f"{counted(len(loud), 'finding')}, no verdict" if loud else quiet_log(run["log"])
        return f"debug-tracer: run {run['id']}, {log_read.span(run['log'])}: {end}"
    length = length_of(run)
    if not run["iterations"] and not loud:
        return (
            f"debug-tracer: run {run['id']} made no backward call that was seen; `debug-tracer doctor` says what was "
            "hooked"
        )
    if crashed:
        return f"debug-tracer: run {run['id']} crashed after {length}; no non-finite value was seen before"
    killed = signal_of(run)
    if killed and not loud:
        return (
            f"debug-tracer: run {run['id']} was killed by signal {killed} after {length}; no non-finite value was seen "
            "before"
        )
    if loud:
        return f"debug-tracer: run {run['id']}, {length}: {counted(len(loud), 'finding')}, no verdict"
    finite = "loss and gradient" if run.get("own_updates") == 0 else "loss, gradient and update"
    read = " that was read" if LEFT_OUT & set(run.get("capture", {})) else ""
    return f"debug-tracer: run {run['id']}, {length}: every {finite}{read} was finite"


def signal_of(run: dict[str, Any]) -> int | None:
    """The signal that ended the process of a run; None for another end, Ctrl-C among them."""
    code = run.get("exit_code") or 0
    return code - 128 if 128 < code < 128 + 65 and code != 128 + signal.SIGINT else None


def length_of(run: dict[str, Any]) -> str:
    """How long a run was; where no optimizer stepped, the updates that its loop wrote itself."""
    own, calls = run.get("own_updates"), counted(run["iterations"], "backward call")
    ranks = f"on {counted(run['world_size'], 'rank')}"
    if own is None:
        return f"{counted(run['steps'], 'step')} ({calls}) {ranks}"
    wrote = f"{counted(own, 'update')} written by the loop itself" if own else "no update of the weights"
    return f"{calls} and {wrote} {ranks}"


def quiet_log(log: dict[str, Any]) -> str:
    """What can be said of a log in which nothing was found."""
    bad, short = log["first_bad"], log["too_short_for"]
    numbers = f"not every logged number is finite ({bad})" if bad else "every logged number is finite"
    return numbers + (f"; too few rows for {', '.join(slug.split('/')[1] for slug in short)}" if short else "")


def layers(report: dict[str, Any]) -> list[Row]:
    """The rows of the state of the seven layers, one each."""
    style = {"fired": "bold red", "silent": "", "not": "dim"}
    return [(name, state, style.get(state.split(" ")[0].rstrip(":"), "")) for name, state in report["layers"].items()]


def cost(report: dict[str, Any]) -> list[Row]:
    """What watching cost, worst rank; nothing if it was not measured."""
    share, syncs = report["overhead"]["own_time_share"], report["overhead"]["host_syncs_per_step"]
    if not share and not syncs:
        return []
    rows = [("cost", f"{share:.1%} of the run's time was ours, {syncs:.3g} host syncs per step", "dim")]
    rested = report["run"].get("capture", {})
    return [*rows, ("", resting(rested), "dim")] if rested else rows


def resting(shares: dict[str, float]) -> str:
    """What rested to stay under the promised cost, in how many of the steps, what that loses and how to keep it."""
    parts = ", ".join(f"{part} in {share:.0%}" for part, share in shares.items())
    lost = "; a bad step without its tape can be executed again from its batch alone" if "the tape" in shares else ""
    if "observers" in shares:
        lost += "; without observers a step is asked for its loss and gradient norm alone"
    if "root calls and batches" in shares:
        lost += "; without root calls and batches no forward can be executed again"
    if "the norm of the gradients" in shares:
        lost += "; a gradient that goes bad without its norm is told by the loss after it"
    if "whole steps" in shares:
        lost += "; what goes bad in a step that nobody looks at is told by the next that is, up to 17 later"
    return f"to stay under the promised cost, of the steps rested: {parts}{lost}; --cost 1 keeps all"
