"""The memo of `crux`: the answer in plain words, and what code checks of it.

`memo_problems` (in `checks`) gives what is wrong with its sentences; `citing` finds what stands where a ref leads,
`terms` what a reader cannot know; `likelihood` has the words for how sure one is. Numbers in prose are read in
`roles/calculation.py`, classes of evidence in `roles/evidence.py`.
"""
