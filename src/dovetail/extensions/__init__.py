"""Extension folders on disk: discover, import, check, publish a generation; watch; report."""

from dovetail.extensions.extension import ExtensionFailure, ExtensionNotice, ExtensionSnapshot
from dovetail.extensions.lifetime import ExtensionContext
from dovetail.extensions.loader import ExtensionLoader
from dovetail.tools.langchain import to_langchain

__all__ = [
    "ExtensionContext",
    "ExtensionFailure",
    "ExtensionLoader",
    "ExtensionNotice",
    "ExtensionSnapshot",
    "to_langchain",
]
