"""Profile `gates`: failure modes on one engine, and the gates."""
