"""Seats: what fills a role. One port, one file an adapter."""
