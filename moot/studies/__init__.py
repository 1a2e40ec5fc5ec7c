"""Studies: ways to deliberate compared on the same questions, in pairs and with repetitions."""
