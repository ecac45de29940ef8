"""What probes have seen, one kind of fact a file: values without judgement, kept so that a run can be judged again offline. Imports no torch."""
