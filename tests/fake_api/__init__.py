"""An honest fake of the Messages API: real sockets, modelled rules, and every reply marked as made by a fake."""
