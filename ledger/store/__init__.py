"""Run on disk: streams, commits, locks, recovery, blobs. Only this package touches a ledger's bytes."""
