"""Events: the models of all kinds, by the stream and subject they belong to, and the table of kinds.

The files here do without `from __future__ import annotations`: msgspec would have to compile every annotation again
from its text, which costs each start of a verb 10 ms.
"""

# The names are taken as they come: a list of them here would be one more place that a new kind has to touch.
from ledger.events.answers import *
from ledger.events.claims import *
from ledger.events.decisions import *
from ledger.events.envelope import *
from ledger.events.experiments import *
from ledger.events.kinds import *
from ledger.events.run import *
from ledger.events.verifications import *
