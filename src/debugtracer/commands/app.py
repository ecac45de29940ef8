"""The command `debug-tracer`: every module of this folder is a command, found by its file; our errors are one line on
stderr."""

from __future__ import annotations

import sys

from debugtracer.commands._run_words import parsed
from debugtracer.errors import DebugTracerError


def main() -> None:
    """Run the command line and exit with its status: 2 and one line for wrong usage and unreadable input."""
    sys.exit(status(sys.argv[1:]))


def status(words: list[str]) -> int:
    """Execute these words; an error of ours is one line on stderr, never a traceback."""
    try:
        given = parsed(words)
        if given is not None:
            from debugtracer.commands._supervised import watch_given

            return watch_given(given.command, given.options)
        from debugtracer.commands._group import executed

        result = executed(words)
    except DebugTracerError as error:
        return say(str(error))
    except Exception as error:
        text = getattr(error, "format_message", None)  # typer may carry a click of its own
        if text is not None:
            return (
                0
                if type(error).__name__ == "NoArgsIsHelpError" and not print(text())
                else say(f"{text()} `debug-tracer --help` shows what there is.")
            )
        if type(error).__name__ == "Abort":
            return say("interrupted", 130)
        if hasattr(error, "exit_code"):
            return int(error.exit_code)
        return say(
            f"internal error ({type(error).__name__}: {error}); please report it with the command you typed.", 70
        )
    except KeyboardInterrupt:
        return say("interrupted", 130)
    return result if isinstance(result, int) else 0


def say(text: str, code: int = 2) -> int:
    """Print one line on stderr and return the exit code."""
    printable = "".join(c if c.isprintable() else " " for c in text)  # what a file holds must not steer a terminal
    print(f"debug-tracer: {' '.join(printable.split())}", file=sys.stderr)
    return code
