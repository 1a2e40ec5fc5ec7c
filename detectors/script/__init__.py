"""The six stop signals exactly as the published script computes them, claim statuses folded first."""
