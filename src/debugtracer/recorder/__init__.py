"""What is recorded: the tape of a step, the step as an aten program, and the capsule on disk."""
