"""What needs a terminal: colours, live layout, forms, questions, completion."""
