"""Two servers on one PostgreSQL database, for tests in a browser.

Prints one JSON line when they are ready. Each line `stop` or `start` on standard input stops the first one,
or starts it again at the same address, and is repeated when that is done; the end of the input stops both.
"""

import asyncio
import json
import os
import sys
import tempfile
from contextlib import AsyncExitStack
from itertools import count
from pathlib import Path

from serve import listen, make_app

from dovetail.testing import ScriptedServer
from patience import be_patient
from postgres import make_database


def say(text: str) -> None:
    """Print a line that the test waits for."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


async def serve() -> None:
    """Run until the other end of standard input is closed."""
    database = await make_database()
    with tempfile.TemporaryDirectory() as folder, ScriptedServer() as model:
        workspaces = (Path(folder) / str(number) for number in count())

        async def open_server(exits: AsyncExitStack, port: int = 0) -> str:
            app = make_app(model.url, next(workspaces), database=database)
            return await exits.enter_async_context(listen(app, port))

        async with AsyncExitStack() as ends, AsyncExitStack() as others:
            url, other = await open_server(ends), await open_server(others)
            port = int(url.rpartition(":")[2])
            say(json.dumps({"url": url, "other": other, "script": model.url.removesuffix("/v1")}))
            while line := (await asyncio.to_thread(sys.stdin.readline)).strip():
                await ends.aclose()
                if line == "start":
                    await open_server(ends, port)
                say(line)


if __name__ == "__main__":
    os.environ.pop("DOVETAIL_MODEL", None)
    be_patient()
    asyncio.run(serve())
