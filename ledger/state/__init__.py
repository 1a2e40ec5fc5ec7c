"""What stands after reading the ledger so far: the fold, lifecycles, what was decided, how a run was closed."""
