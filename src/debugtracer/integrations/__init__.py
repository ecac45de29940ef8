"""How debug-tracer is started in a program, and reads its framework: one framework or start a file."""
