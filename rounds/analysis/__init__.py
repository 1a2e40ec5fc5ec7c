"""Analysis of runs afterwards: differences, stress tests, value, acceptance."""
