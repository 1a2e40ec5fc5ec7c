"""What people look at: the local web viewer, and the report as one HTML file; both tell what `moot.view` tells."""
