"""The outputs of the verbs for machines, one file a verb; published as `schemas/output/<verb>.json`."""
