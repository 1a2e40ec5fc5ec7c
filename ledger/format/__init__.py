"""The bytes of a line: canonical JSON, the chain, the published schemas."""
