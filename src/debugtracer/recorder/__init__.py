"""What is kept: the tape of a step, the step as a recorded aten program, and the capsule on disk."""
