"""From the evidence of an incident to a verdict: beliefs, trials, conclusion."""
