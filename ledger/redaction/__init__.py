"""Redaction: finding words that must go, removing them, and recording that on the ledger."""
