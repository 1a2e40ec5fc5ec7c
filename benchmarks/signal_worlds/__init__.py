"""Simulated deliberations that the calibrated detectors are scored on: worlds, their ledgers, and how they are read."""
