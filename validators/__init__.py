"""Validators: what a sound ledger never breaks, one rule a file."""
