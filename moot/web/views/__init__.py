"""What each page shows, as values: pure functions of a run that is followed, built on the story of `moot.view`."""
