"""What happens before the first step: deliberation files, plans, the gate, the opening, forks."""
