"""A capsule executed in a fresh process."""
