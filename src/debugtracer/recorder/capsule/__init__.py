"""The step as a recorded aten program, and the capsule on disk."""
