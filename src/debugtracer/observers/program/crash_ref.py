"""Which iteration and step of the run an exception belongs to."""

from __future__ import annotations

from debugtracer.observers.observed_run import ObservedRun
from debugtracer.trace.step import StepRef


def crash_ref(run: ObservedRun, fetching: bool) -> StepRef:
    """The iteration that fails (docs/rationale/contracts.md#iteration); `fetching` says that a loader was."""
    state = run.state
    # a batch came since the last backward began: what fails now belongs to the next iteration
    ahead = fetching or state.fetched_at == run.iteration
    return StepRef(
        iteration=state.iteration if ahead else state.iteration_in_flight,
        step=state.step,
        phase="load" if fetching else "forward",
    )
