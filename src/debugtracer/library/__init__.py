"""What the team has seen before and what cured it: fingerprints of incidents, and the file that keeps them. No
torch."""
