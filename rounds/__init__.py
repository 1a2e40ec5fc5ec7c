"""Rounds: protocols as tables, and the one engine that runs them."""
