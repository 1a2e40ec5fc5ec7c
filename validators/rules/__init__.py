"""The rules of `moot check` by topic, one rule a function. `validators.rulebook` lists them all."""
