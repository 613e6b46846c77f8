"""Write the audit line of every call to the file `REALITY_CALLS`; Python reads this module at its start."""

import logging
import os

_path = os.environ.get("REALITY_CALLS")
if _path:
    _audit = logging.getLogger("dovetail.audit")
    _audit.setLevel(logging.INFO)
    _audit.addHandler(logging.FileHandler(_path, encoding="utf-8"))
