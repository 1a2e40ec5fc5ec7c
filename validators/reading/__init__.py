"""What rules are made of: the docket that they read, and the questions that several of them ask. No rule is here."""
