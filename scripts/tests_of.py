"""Which test files look at a file of ours: the mirrored one with its parts, and those that reach it by imports."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCE, TESTS = ROOT / "src", ROOT / "tests"
CONTRACTS = {
    "checks": ("checks/test_check.py", "checks/test_cases.py"),
    "causes": ("causes/test_cause.py", "causes/test_calls.py"),
    "diagnosis": ("diagnosis/test_calls.py", "test_stored_programs.py"),
    "interventions": ("interventions/test_calls.py", "test_stored_programs.py"),
    "recorder": ("recorder/test_calls.py", "test_stored_programs.py"),
}
"""What is asked of all files of a folder: the contract of its plug-ins, and the cases that are stored for it."""
# whole programs, minutes each; the rules of the house read text
BLIND = {"benchmarks", "end_to_end", "faults", "frameworks", "house", "torture"}
MOST = 8  # test files beyond the mirrored one


def mirrored(file: str) -> tuple[Path, ...]:
    """The mirrored test file of a file below src/debugtracer, its parts, then those of its folder as a whole."""
    path = Path(file)
    own = TESTS / path.parent / f"test_{path.name}"
    return tuple(dict.fromkeys([own, *parts(path), *(TESTS / test for test in CONTRACTS.get(path.parts[0], ()))]))


def parts(path: Path) -> list[Path]:
    """The test files that a mirrored one was split into: of `governor.py` also test_governor_clocks.py."""
    found = sorted((TESTS / path.parent).glob(f"test_{path.stem}_*.py"))
    return [test for test in found if subject(test, SOURCE / "debugtracer" / path.parent) == path.stem]


def subject(test: Path, folder: Path) -> str:
    """The file of a folder that a test file is about by its name, the longest that fits; empty for none."""
    words = test.stem.removeprefix("test_").split("_")
    names = ("_".join(words[:count]) for count in range(len(words), 0, -1))
    return next((name for name in names if (folder / f"{name}.py").exists()), "")


def wider(file: str) -> tuple[Path, ...]:
    """Other test files that import the module, then those of the files of ours that import it, those of its folder that
    mirror no file, the nearest first; then those that see it through a helper of tests, as all of a folder may. The
    first `MOST`."""
    path = SOURCE / "debugtracer" / file
    module = name(path, SOURCE)
    by_tests = sorted(test for test, names in imports(TESTS).items() if module in names)
    helpers = {name(test, ROOT) for test in by_tests if not test.name.startswith("test_")}
    by_helpers = sorted(test for test, names in imports(TESTS).items() if helpers & names)
    users = sorted(user for user, names in imports(SOURCE).items() if module in names)
    by_users = [mirrored(str(user.relative_to(SOURCE / "debugtracer")))[0] for user in users if user.parts[-2:-1]]
    beside = [test for test in sorted((TESTS / file).parent.glob("*.py")) if not subject(test, path.parent)]
    known, found = mirrored(file), dict[Path, None]()
    for some in ([*by_tests, *by_users, *beside], by_helpers):
        found |= dict.fromkeys(sorted(some, key=lambda test: distance(test, TESTS / file)))
    asked = (one for one in found if one.name.startswith("test_") and one not in known and one.exists())
    return tuple([test for test in asked if not blind(test)][:MOST])


def blind(test: Path) -> bool:
    """Whether a test file is too dear to ask, or reads the files as they are."""
    return test.relative_to(TESTS).parts[0] in BLIND


def distance(test: Path, mirror: Path) -> int:
    """Folders between two files: of two tests the nearer one says more."""
    common = sum(1 for a, b in zip(test.parts[:-1], mirror.parts[:-1], strict=False) if a == b)
    return len(test.parts) + len(mirror.parts) - 2 * common


def name(path: Path, base: Path) -> str:
    """The name that a file is imported by."""
    return ".".join(path.relative_to(base).with_suffix("").parts)


@cache
def imports(folder: Path) -> dict[Path, frozenset[str]]:
    """What each file of a folder imports, as names of modules and of what is taken from them."""
    return {path: frozenset(imported(ast.parse(path.read_text()))) for path in folder.rglob("*.py")}


def imported(tree: ast.Module) -> set[str]:
    """The names of modules that are imported anywhere in a file, and of what is taken from them."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{one.name}" for one in node.names)}
        elif isinstance(node, ast.Import):
            found |= {one.name for one in node.names}
    return found
