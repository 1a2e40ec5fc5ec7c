"""Simulated deliberations for scoring the stop checks: worlds, their ledgers, and the code that reads them."""
