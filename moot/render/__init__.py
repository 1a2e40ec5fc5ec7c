"""What people see: pure functions from outputs to text, and the live views."""
