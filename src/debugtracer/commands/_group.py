"""The group of all commands in typer's terms; importing it is dear, since typer takes pydantic along."""

from __future__ import annotations

import importlib
from typing import Any

import typer
from typer.core import TyperGroup

import debugtracer
from debugtracer.commands._names import names

# the program's options are the program's
SETTINGS = {"run": {"allow_interspersed_args": False, "ignore_unknown_options": True}}
EPILOG = "Start with: debug-tracer run train.py"


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


def executed(words: list[str]) -> Any:
    """Execute these words; what the command returned. Raises what it raises, and typer's errors."""
    return typer.main.get_command(app).main(words, prog_name="debug-tracer", standalone_mode=False)
