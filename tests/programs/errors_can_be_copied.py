# Errors with details survive copies and pickles.
import copy
import pickle

from dovetail.errors import LimitError, TransientModelError

busy = pickle.loads(pickle.dumps(TransientModelError("Busy.", provider="x", retry_after=3)))
print(repr(busy))
print(copy.copy(LimitError("Too much.", limit="max-cost", resets_at=5.0)).resets_at)

# Output:
# TransientModelError('Busy.', provider='x', retry_after=3)
# 5.0
