"""The command `debug-tracer`: every module of this folder is a command, found by its file; our errors are one line on
stderr."""

from __future__ import annotations

import importlib
import pkgutil
import sys
from typing import Any

import typer
from typer.core import TyperGroup

import debugtracer
from debugtracer import commands
from debugtracer.errors import DebugTracerError

# the program's options are the program's
SETTINGS = {"run": {"allow_interspersed_args": False, "ignore_unknown_options": True}}
EPILOG = "Start with: debug-tracer run train.py"


def names() -> list[str]:
    """The commands, by their files."""
    return sorted(
        m.name for m in pkgutil.iter_modules(commands.__path__) if m.name != "app" and not m.name.startswith("_")
    )


class Commands(TyperGroup):
    """A group that imports a command only when it is asked for it."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return every name that --help offers, sorted."""
        return names()

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Import the module of that name, None if there is none."""
        return command(cmd_name) if cmd_name in names() else None


def command(name: str) -> Any:
    """The command of one module: its function of the same name."""
    function = getattr(importlib.import_module(f"debugtracer.commands.{name}"), name)
    single = typer.Typer(add_completion=False, rich_markup_mode=None)
    single.command(name, context_settings=SETTINGS.get(name, {}), no_args_is_help=False)(function)
    return typer.main.get_command(single)


app = typer.Typer(cls=Commands, add_completion=False, rich_markup_mode=None, no_args_is_help=True, epilog=EPILOG)


@app.callback(help="A flight recorder for PyTorch training: says where the first bad value was born.")
def debug_tracer(
    version: bool = typer.Option(
        False, "--version", help="Print the version.", is_eager=True, callback=lambda v: show_version(v)
    ),
) -> None:
    """Take the options that stand before a command."""


def show_version(wanted: bool) -> None:
    """Print the version and exit, if wanted."""
    if wanted:
        typer.echo(f"debug-tracer {debugtracer.__version__}")
        raise typer.Exit


def main() -> None:
    """Run the command line and exit with its status: 2 and one line for wrong usage and unreadable input."""
    sys.exit(status(sys.argv[1:]))


def status(words: list[str]) -> int:
    """Execute these words; an error of ours is one line on stderr, never a traceback."""
    try:
        result = typer.main.get_command(app).main(words, prog_name="debug-tracer", standalone_mode=False)
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
