"""Everything that surfaces show, as values and plain text: no terminal, no templates, no server."""
