"""Written language as moot knows it: words, sentences and questions (`words`), and numbers (`numbers`).

Everything here is computed from code points alone. A segmentation library would find the borders of Chinese or Thai
words better, but word counts are recorded and checked again years later, and its dictionaries change with each
release.
"""
