"""moot: structured deliberations, kept in a ledger that can be checked."""
