"""Logs that others wrote: one format a file, read into a run folder of ours, so that the checks serve people who had
not run us. Imports no torch."""
