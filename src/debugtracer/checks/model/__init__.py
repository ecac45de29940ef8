"""Questions about the model: its graph, its outputs, its layers and its loss."""
