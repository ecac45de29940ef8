"""The entry point in torch's group `torch.backends`, under a name no user package has: a failure here would break
`import torch` itself."""

import os


def autoload() -> None:
    """Called by torch at the end of its import; does nothing without DEBUG_TRACER, and never fails."""
    if os.environ.get("DEBUG_TRACER", "0") in ("", "0"):
        return
    try:
        from debugtracer.integrations.autoload import autoload as begin
    except ImportError as error:
        import sys

        print(
            f"debug-tracer: not watching this process ({error}); another package may be called debugtracer.",
            file=sys.stderr,
        )
        return
    begin()
