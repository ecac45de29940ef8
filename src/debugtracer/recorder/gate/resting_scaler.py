"""The step of a GradScaler at rest: the scaler itself looks whether the gradients are finite; where it lets the
optimizer write nothing else is asked."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any

from debugtracer.recorder.gate.resting_steps import RestingSteps


class RestingScaler:
    """One per process. Some tens of microseconds a step."""

    def __init__(self, steps: RestingSteps) -> None:
        self.steps, self.gate, self.state = steps, steps.gate, steps.state

    def step(
        self,
        scaler: Any,
        original: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        scale: float | None,
        tells: bool,
    ) -> Any:
        """Run GradScaler.step; where its gradients cannot be read at once, or are bad, the gate decides about it."""
        begin, steps, state = perf_counter(), self.steps, self.state
        optimizer = kwargs.get("optimizer", args[0] if args else None)
        inner: Any = getattr(optimizer, "optimizer", optimizer)
        if scale is None or not state.stepped or steps.skips or state.quiet_until_healthy:
            return self.decided(scaler, original, args, kwargs, scale)
        leaves_out = steps.to_leave_out > 0
        grad_l2 = None if leaves_out else steps.good_norm(inner)
        if grad_l2 is None and not leaves_out:
            return self.decided(scaler, original, args, kwargs, scale)
        state.own_s += perf_counter() - begin
        output, wrote = self.gate.run_scaler(scaler, original, args, kwargs)
        if wrote:
            self.gate.scaler_wrote(scaler, scale)
            steps.ended(inner, grad_l2, tells, scale)
        else:
            self.skipped(scaler, inner, scale)
        return output

    def decided(
        self, scaler: Any, original: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], scale: Any
    ) -> Any:
        """Let the gate decide about a step."""
        self.steps.publish()
        self.steps.record_losses()
        return self.gate.scaler_step(scaler, original, args, kwargs, scale)

    def skipped(self, scaler: Any, optimizer: Any, scale: float) -> None:
        """Count an update that the scaler has left out."""
        self.steps.publish()
        self.steps.record_losses()
        self.steps.recorder.guarded(lambda: self.gate.health_gate.scaled(optimizer, scaler, scale))
        self.gate.scaler_skipped(scaler, optimizer, scale)
