"""Import of ledgers from other systems, and export for other tools."""
