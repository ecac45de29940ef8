"""What watches torch: patches, hooks and the op tracer."""
