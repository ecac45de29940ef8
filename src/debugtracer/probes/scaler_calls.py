"""What a GradScaler is asked, in the words of the tape: a scaled loss is a call, unscaling an entry, its step passes the gate."""

from __future__ import annotations

from typing import Any

from debugtracer.probes.desk import Desk
from debugtracer.probes.scaler import Scalers, current_scale
from debugtracer.recorder.recorder import Recorder
from debugtracer.recorder.updates import Updates


class ScalerCalls:
    """Runs the four methods of a GradScaler for the program, and tells the takers before and after."""

    def __init__(self, recorder: Recorder, scalers: Scalers, updates: Updates, desk: Desk) -> None:
        self.recorder, self.scalers, self.updates, self.desk = recorder, scalers, updates, desk

    def __call__(self, word: str, scaler: Any, original: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """One call of the program's; what it raises passes."""
        self.desk.moment("scaler_called", word, scaler, args, kwargs)
        output = self.run(word, scaler, original, args, kwargs)
        self.desk.moment("scaler_returned", word, scaler, args, kwargs)
        return output

    def run(self, word: str, scaler: Any, original: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The call, on the tape as what it means."""
        if word == "scale":
            output = self.recorder.on_quiet_call("fn", original, (scaler, *args), kwargs)
            self.scalers.scaled(args[0] if args else kwargs.get("outputs"), output)
            return output
        if word == "update":
            with self.recorder.paused():
                return original(scaler, *args, **kwargs)
        optimizer = args[0] if args else kwargs.get("optimizer")
        if word == "unscale" or not self.scalers.is_unscaled(scaler, optimizer):
            self.note_unscale(scaler, optimizer)
        if word == "unscale":
            with self.recorder.paused():
                return original(scaler, *args, **kwargs)
        return self.updates.scaler_step(scaler, original, args, kwargs, current_scale(scaler))

    def note_unscale(self, scaler: Any, optimizer: Any) -> None:
        """An entry that divides the gradients by the scale."""
        inner = getattr(optimizer, "optimizer", optimizer)
        tape = self.recorder.tape
        self.recorder.guarded(lambda: tape.close(tape.open("unscale", None, (inner, scaler), {}), None))
