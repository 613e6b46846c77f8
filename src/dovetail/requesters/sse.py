"""Splits a byte stream into server-sent events: sans I/O, linear, one decode per event."""


class EventSplitter:
    """Takes bytes as they come, cut anywhere, and gives the `data` of each event that is complete."""

    __slots__ = ("_ends_with_return", "_pieces", "waiting")

    def __init__(self) -> None:
        self.waiting = 0  # bytes of an event that is not complete yet
        self._pieces: list[bytes] = []
        self._ends_with_return = False

    def feed(self, data: bytes) -> list[str]:
        """The data of the events that these bytes complete."""
        if b"\r" in data or self._ends_with_return:
            data = self._unify_newlines(data)
        if not self._pieces and data.endswith(b"\n\n") and data.find(b"\n\n") == len(data) - 2:
            return _read_block(data[:-2])  # one event in one piece, as most of them come
        self._pieces.append(data)
        self.waiting += len(data)
        if b"\n" not in data:
            return []  # only a newline completes an event: what has none is joined once, later
        *blocks, rest = b"".join(self._pieces).split(b"\n\n")
        self._pieces, self.waiting = [rest] if rest else [], len(rest)
        return [text for block in blocks for text in _read_block(block)]

    def finish(self) -> list[str]:
        """The data of an event that the stream's end completes."""
        block = b"".join(self._pieces)
        self._pieces = []
        return _read_block(block)

    def _unify_newlines(self, data: bytes) -> bytes:
        if self._ends_with_return:
            # The return has ended its line already; the newline that belongs to it says nothing more.
            data = data.removeprefix(b"\n")
        self._ends_with_return = data.endswith(b"\r")
        return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")


def _read_block(block: bytes) -> list[str]:
    if block.startswith(b"data: ") and b"\n" not in block:
        return [block[6:].decode("utf-8", "replace").lstrip()]
    lines = [line for line in block.decode("utf-8", "replace").split("\n") if line.startswith("data:")]
    return ["\n".join(line[5:].lstrip() for line in lines)] if lines else []
