"""What an editable install holds beside the path to this checkout; read by hatchling."""

from __future__ import annotations

from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class AutoloadCopied(BuildHookInterface[Any]):
    """Puts the module of the entry point itself into the environment.

    Torch imports that module at the end of its own import and fails with it: an environment whose checkout was moved or
    deleted, or whose site-packages are used by another Python, could no longer import torch."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Include the file in an editable wheel; any other wheel has it already."""
        if version == "editable":
            build_data["force_include_editable"]["src/_debug_tracer_autoload.py"] = "_debug_tracer_autoload.py"
