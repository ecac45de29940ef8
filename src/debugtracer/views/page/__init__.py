"""What the page shows, one file a panel: plain values of a trace, put into the built template. Imports no torch."""
