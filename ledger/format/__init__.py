"""The bytes of a line: canonical JSON, the chain, older formats, the published schemas."""
