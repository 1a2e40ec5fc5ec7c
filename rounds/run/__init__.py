"""Runs in progress: engine, controller, session, driver, budgets and acts of people."""
