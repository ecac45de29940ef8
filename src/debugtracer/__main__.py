"""`python -m debugtracer` is `debug-tracer`."""

from __future__ import annotations

from debugtracer.commands.app import main

if __name__ == "__main__":
    main()
