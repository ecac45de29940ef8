"""`DebugTracerCallback()` for a Lightning Trainer: the watch begins with fit and ends with it. `debug-tracer run` and
DEBUG_TRACER=1 need no callback."""

from __future__ import annotations

from typing import Any

try:
    from lightning.pytorch import Callback
except ImportError:  # the older name of the same package
    from pytorch_lightning import Callback  # type: ignore[assignment]

from debugtracer.integrations.notebook import NotebookWatch, joined

ASKED = (
    "precision",
    "accumulate_grad_batches",
    "gradient_clip_val",
    "gradient_clip_algorithm",
    "max_epochs",
    "max_steps",
    "num_devices",
    "world_size",
)


class DebugTracerCallback(Callback):
    """Keywords are the settings of `debugtracer.watch`. Where the process is under watch already it only writes down
    how the Trainer is set.

    In mode dev a bad step ends fit with status 3, after Lightning's own teardown. Steps, losses and the progress bar
    are untouched; no host sync."""

    def __init__(self, **settings: object) -> None:
        self.settings = settings
        self.watch: NotebookWatch | None = None

    def setup(self, trainer: Any, pl_module: Any, stage: str) -> None:
        """Fit begins. Raises UsageError naming a wrong setting."""
        if stage == "fit" and self.watch is None:
            self.watch = joined(**self.settings)
            self.watch.told("lightning", {name: getattr(trainer, name, None) for name in ASKED})

    def on_exception(self, trainer: Any, pl_module: Any, exception: BaseException) -> None:
        """Fit dies, and Lightning tears no callback down then: its own exception is recorded, our stop is not one."""
        if self.watch is not None and self.watch.mine and isinstance(exception, Exception):
            self.watch.session.crashed(exception)
        self.teardown(trainer, pl_module, "fit")

    def teardown(self, trainer: Any, pl_module: Any, stage: str) -> None:
        """Called when fit is over: a watch of ours ends with its verdict."""
        ended, self.watch = self.watch, None
        if ended is not None:
            ended.stop()
