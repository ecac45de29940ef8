"""Diagnosis: ranks the causes of an incident and proves them by trials; may answer that it does not know."""
