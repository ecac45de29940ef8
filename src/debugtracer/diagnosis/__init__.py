"""Why: ranks the causes of an incident; may answer that it does not know."""
