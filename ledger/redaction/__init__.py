"""Words that must go: finding them, taking them out, and saying so on the ledger."""
