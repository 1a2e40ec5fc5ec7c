"""A run on disk: streams, commits, locks, recovery, blobs. The only place where a ledger's bytes are touched."""
