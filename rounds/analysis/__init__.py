"""What is asked of runs afterwards: differences, stress tests, value, acceptance."""
