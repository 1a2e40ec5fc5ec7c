"""Roles, the briefs they receive, and the replies they must return."""
