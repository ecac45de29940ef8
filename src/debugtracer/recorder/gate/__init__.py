"""The gates: what is read and judged before an update writes, by one optimizer or by the loop itself."""
