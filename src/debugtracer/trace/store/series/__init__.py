"""The numbers of a run on disk: the live segment, sealed blocks with roll-ups, overviews and the byte budget."""
