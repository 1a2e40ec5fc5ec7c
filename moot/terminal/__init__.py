"""Terminal output and input: colors, live layout, forms, questions."""
