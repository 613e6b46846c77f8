"""A server whose model always says hello, in a process of its own.

    python serve_script.py WORKSPACE [DATABASE_URL]

Prints its address when it is ready, and stops when its standard input closes.
"""

import asyncio
import sys
from pathlib import Path

from serving import serve

REPLIES = ["Hello."] * 5000


async def main(folder: Path, url: str | None) -> None:
    """Serve until standard input closes."""
    async with serve(folder, REPLIES, settings={"store": {"url": url}}) as server:
        print(server.address, flush=True)  # noqa: T201
        await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else None))
