"""Two runs side by side: texts aligned, differences named."""
