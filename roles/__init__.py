"""Roles: who takes part, what each may see, and what each must return."""
