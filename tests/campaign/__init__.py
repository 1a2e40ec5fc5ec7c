"""Campaigns: the long tests of the promises that docs/reliability.md reports, in slices that can be resumed."""
