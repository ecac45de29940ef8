"""IncidentEvidence under its former name, for causes that users wrote before."""

from __future__ import annotations

from debugtracer.causes.incident_evidence import IncidentEvidence

Reading = IncidentEvidence
