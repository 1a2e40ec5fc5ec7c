"""A run while it goes on: engine, controller, session, driver, budgets and what people add."""
