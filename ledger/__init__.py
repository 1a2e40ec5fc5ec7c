"""The ledger: events, canonical bytes, chain, store, fold, diff and interchange. No model calls, no terminal."""
