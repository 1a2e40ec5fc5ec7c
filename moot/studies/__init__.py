"""Studies: comparisons of ways to deliberate on the same questions, paired and repeated."""
