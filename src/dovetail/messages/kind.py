"""What a tool does to the world; informs the default policy."""

from enum import StrEnum


class Kind(StrEnum):
    """The kind of a tool. Read, Search, Think and Fetch leave the world as it was."""

    Read = "read"
    Write = "write"
    Edit = "edit"
    Delete = "delete"
    Move = "move"
    Search = "search"
    Execute = "execute"
    Think = "think"
    Fetch = "fetch"
    Communicate = "communicate"
    Other = "other"

    @property
    def is_read_only(self) -> bool:
        """Whether a tool of this kind changes nothing."""
        return self in READ_ONLY


READ_ONLY = (Kind.Read, Kind.Search, Kind.Think, Kind.Fetch)
"""The kinds that change nothing."""
