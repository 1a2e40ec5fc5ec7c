"""The local web viewer, and the report as one HTML file; both show the values of `moot.view`."""
