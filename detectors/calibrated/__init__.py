"""The profile `calibrated`: eight failure modes on one engine, and the readiness gates."""
