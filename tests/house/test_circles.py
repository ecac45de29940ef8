"""No module imports, by however long a way, what imports it: imports in functions and for the type checker only count
as well."""

import ast
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2] / "src"
MODULES = {
    ".".join(path.relative_to(SOURCE).with_suffix("").parts): path
    for path in sorted(SOURCE.rglob("*.py"))
    if path.name != "__init__.py"
}


def imported(path: Path, modules: set[str]) -> set[str]:
    """Modules of ours that a file names in an import, wherever in the file."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            found |= {
                inner if (inner := f"{node.module}.{name.name}") in modules else node.module for name in node.names
            }
        elif isinstance(node, ast.Import):
            found |= {name.name for name in node.names}
    return found & modules


def circles(graph: dict[str, set[str]]) -> list[tuple[str, ...]]:
    """Groups of modules that reach each other."""

    def reached(start: str) -> set[str]:
        seen: set[str] = set()
        waiting = [*graph[start]]
        while waiting:
            if (module := waiting.pop()) not in seen:
                seen.add(module)
                waiting += graph[module]
        return seen

    reach = {module: reached(module) for module in graph}
    return sorted({tuple(sorted(o for o in reach[m] if m in reach[o])) for m in graph if m in reach[m]})


def test_no_module_imports_what_imports_it() -> None:
    assert circles({name: imported(path, set(MODULES)) for name, path in MODULES.items()}) == []


def test_a_circle_is_found_by_any_way_and_a_shared_import_is_none() -> None:
    assert circles({"a": {"b", "d"}, "b": {"c"}, "c": {"a"}, "d": set()}) == [("a", "b", "c")]
    assert circles({"a": {"b", "c"}, "b": {"c"}, "c": set()}) == []


def test_an_import_for_the_type_checker_or_inside_a_function_counts(tmp_path: Path) -> None:
    path = tmp_path / "one.py"
    path.write_text("if TYPE_CHECKING:\n    from pack import two\ndef f():\n    from pack.three import name\n")
    assert imported(path, {"pack.two", "pack.three"}) == {"pack.two", "pack.three"}
