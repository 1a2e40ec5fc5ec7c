"""The arithmetic of beliefs, cruxes and the stop: pure functions over exact numbers (docs/crux.md)."""
