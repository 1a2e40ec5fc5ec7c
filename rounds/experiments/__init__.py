"""Claims tested by running: programs that a reply brings, run in a sandbox and nowhere else."""
