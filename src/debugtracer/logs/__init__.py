"""What a text log alone can say about a failed training: words and numbers of it -> ranked causes. No run, no torch."""
