"""Checks that a run is what was committed: verify, damage, blobs, seals."""
