"""Content of each page as values: pure functions of a followed run, built on `moot.view`."""
