"""Validators: what a sound ledger never breaks. The rules are in `validators.rules`, by topic."""
