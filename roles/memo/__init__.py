"""Memo of `crux`: the answer in plain words, and its computed checks.

`checks` finds problems in sentences (`memo_problems`), `citing` resolves refs to texts, `terms` finds words that a
reader cannot know, and `likelihood` holds the words for probabilities. Numbers in prose are read in
`roles/calculation.py`, classes of evidence in `roles/evidence.py`.
"""
