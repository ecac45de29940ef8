"""`DebugTracerCallback()` for Hugging Face's Trainer and its subclasses (TRL's). `debug-tracer run` and DEBUG_TRACER=1
need no callback."""

from __future__ import annotations

from typing import Any

from transformers import TrainerCallback

from debugtracer.integrations.notebook import NotebookWatch, joined

ASKED = (
    "per_device_train_batch_size",
    "gradient_accumulation_steps",
    "max_grad_norm",
    "learning_rate",
    "lr_scheduler_type",
    "fp16",
    "bf16",
    "gradient_checkpointing",
    "logging_nan_inf_filter",
)


class DebugTracerCallback(TrainerCallback):
    """Keywords are the settings of `debugtracer.watch`. Where the process is under watch already it only writes down
    how the Trainer is set.

    In mode dev a bad step ends train() with status 3; a loss that `logging_nan_inf_filter` hides from the log is seen
    at its backward. No host sync."""

    def __init__(self, **settings: object) -> None:
        self.settings = settings
        self.watch: NotebookWatch | None = None

    def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Called when training begins. Raises UsageError naming a wrong setting."""
        if self.watch is None:
            self.watch = joined(**self.settings)
            values = {name: getattr(args, name, None) for name in ASKED}
            self.watch.told("transformers", {name: getattr(value, "value", value) for name, value in values.items()})

    def on_train_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Called when training is over: a watch of ours ends with its verdict."""
        ended, self.watch = self.watch, None
        if ended is not None:
            ended.stop()
