"""Every stored program by name: as it is, and some under other settings."""

from __future__ import annotations

from typing import Any

from tests.stored_programs.bad_steps import BAD, accumulated_bad, eps_of_zero, log_of_a_negative_row
from tests.stored_programs.programs import HEALTHY, Program, evaluated, plain, scaled

SETTINGS: dict[str, tuple[Program, dict[str, Any]]] = {
    "late_gate": (log_of_a_negative_row, {"gate": "late"}),
    "late_gate_healthy": (scaled, {"gate": "late"}),
    "device_gate": (eps_of_zero, {"gate": "device"}),
    "without_copies": (eps_of_zero, {"copy_bytes": 0}),
    "without_ring": (log_of_a_negative_row, {"ring_bytes": 0}),
    "without_trials": (log_of_a_negative_row, {"trials": 0}),
    "two_trials": (eps_of_zero, {"trials": 2}),
    "numbers_alone": (log_of_a_negative_row, {"capture": "canary"}),
    "stops": (accumulated_bad, {"mode": "dev"}),
    "goes_on": (log_of_a_negative_row, {"mode": "val"}),
    "goes_back": (eps_of_zero, {"mode": "prod"}),
    "prod_healthy": (evaluated, {"mode": "prod"}),
    "close_looks": (plain, {"inspect_steps": 2}),
    "no_close_looks": (plain, {"inspect_steps": 0, "function_tests": "off"}),
}
EVERY: dict[str, tuple[Program, dict[str, Any]]] = {one.__name__: (one, {}) for one in (*HEALTHY, *BAD)} | SETTINGS
