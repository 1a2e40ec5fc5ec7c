"""Simulated deliberations that the stop checks are scored on: worlds, their ledgers, and how they are read."""
