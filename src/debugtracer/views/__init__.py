"""What is shown: every view is a function of a trace. Imports no torch."""
