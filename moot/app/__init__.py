"""The use cases: open, start, resume, answer, fork … The command line, MCP and the Python API are thin callers."""
