"""What every surface shows, as values and plain text: no terminal, no templates, no server."""
