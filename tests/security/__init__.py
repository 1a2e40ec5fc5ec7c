"""What comes from outside stays outside: injections, hostile text, paths, limits, fuzzed bytes."""
