"""Extension folders: discover, import, check, swap, watch and report."""

from dovetail.extensions.extension import ExtensionFailure, ExtensionNotice, ExtensionSnapshot
from dovetail.extensions.loader import ExtensionLoader
from dovetail.extensions.version import ExtensionContext
from dovetail.tools.makers.langchain import to_langchain

__all__ = [
    "ExtensionContext",
    "ExtensionFailure",
    "ExtensionLoader",
    "ExtensionNotice",
    "ExtensionSnapshot",
    "to_langchain",
]
