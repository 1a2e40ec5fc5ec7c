"""Schemas: the published shape of every event and of every JSON output."""
