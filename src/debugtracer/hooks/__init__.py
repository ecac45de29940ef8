"""The patches of torch: each hook listens at one place and reports what happens there."""
