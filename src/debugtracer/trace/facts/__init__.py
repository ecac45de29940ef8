"""What observers emit, one kind of fact a file: values without judgement, stored so that a run can be judged again
offline."""
