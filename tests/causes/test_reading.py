"""A cause that a user wrote before imports its evidence from here."""

from debugtracer.causes.incident_evidence import IncidentEvidence
from debugtracer.causes.reading import Reading


def test_the_former_name_is_the_same_class():
    assert Reading is IncidentEvidence
