"""One file a pattern: true hits, and guarded twins that stay silent."""
