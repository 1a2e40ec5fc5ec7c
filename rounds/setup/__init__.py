"""Setup of a run before its first step: deliberation files, plans, the gate, the opening."""
