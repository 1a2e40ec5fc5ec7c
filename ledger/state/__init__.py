"""State after reading the ledger so far: the fold, lifecycles, decisions in force, how a run was closed."""
