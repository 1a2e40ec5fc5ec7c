"""Pictures, drawn as SVG without script and style attributes: colours are classes of the style sheet."""
