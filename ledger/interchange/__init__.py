"""Ledgers that come in from elsewhere, and ledgers written out for other tools."""
