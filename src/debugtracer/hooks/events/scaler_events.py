"""Records the calls of a GradScaler on the tape: a scaled loss is a call, unscaling an entry, its step an update."""

from __future__ import annotations

from typing import Any

from debugtracer.hooks.events.loop_events import Args, Call, Kwargs
from debugtracer.hooks.scaler import current_scale, is_unscaled
from debugtracer.recorder.gate.step_gate import StepGate
from debugtracer.recorder.recorder import Recorder
from debugtracer.recorder.training_events import TrainingEvents


class ScalerEvents:
    """Runs the four methods of a GradScaler for the program, and tells the observers before and after."""

    def __init__(self, recorder: Recorder, gate: StepGate, observers: TrainingEvents) -> None:
        self.recorder, self.gate, self.observers = recorder, gate, observers

    def __call__(self, word: str, scaler: Any, original: Call, args: Args, kwargs: Kwargs) -> Any:
        """Run one call of the program's; what it raises passes."""
        self.observers.scaler_called(word, scaler, args, kwargs)
        output = self.run(word, scaler, original, args, kwargs)
        self.observers.scaler_returned(word, scaler, args, kwargs)
        return output

    def run(self, word: str, scaler: Any, original: Call, args: Args, kwargs: Kwargs) -> Any:
        """The call, on the tape as what it means."""
        recorder = self.recorder
        if word == "scale":
            output = recorder.on_quiet_call("fn", original, (scaler, *args), kwargs)
            recorder.state.scaled.add(args[0] if args else kwargs.get("outputs"), output)
            return output
        if word == "update":
            with recorder.stack.paused():
                return original(scaler, *args, **kwargs)
        optimizer = args[0] if args else kwargs.get("optimizer")
        if word == "unscale" or not is_unscaled(scaler, optimizer):
            self.note_unscale(scaler, optimizer)
        if word == "unscale":
            with recorder.stack.paused():
                return original(scaler, *args, **kwargs)
        return self.gate.scaler_step(scaler, original, args, kwargs, current_scale(scaler))

    def note_unscale(self, scaler: Any, optimizer: Any) -> None:
        """Append an entry that divides the gradients by the scale."""
        inner = getattr(optimizer, "optimizer", optimizer)
        tape = self.recorder.tape
        self.recorder.guarded(lambda: tape.close(tape.open("unscale", None, (inner, scaler), {}), None))
