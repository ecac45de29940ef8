"""What a backend of torch calls its generators, memory, events and overflow flag: one kind of device a file."""
