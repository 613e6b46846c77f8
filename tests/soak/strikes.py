"""What happens to the processes of a soak, at random moments: each ends with as many of them as before.

Many of the moments are right after an effect, before its result is stored: a process that repeats what it
should not is seen only there.
"""

import asyncio
import random
import signal

from resume.machine import Machine
from resume.points import DAY
from resume.world import World
from soak.workspace import get_ledger, write_tools

EFFECT = 5.0
"""Seconds in which a strike waits for an effect."""
Struck = str


async def strike(world: World, chance: random.Random) -> Struck:
    """Let one thing happen; return its name."""
    choices = [kill, *[kill_after_effect] * 3, terminate, freeze, turn_clock, reload]
    if world.engine.storage != "sqlite":
        choices += [cut, cut_off]
    chosen = chance.choice(choices)
    await chosen(world, chance)
    return chosen.__name__


async def kill(world: World, chance: random.Random) -> None:
    """Kill a process and start another one."""
    await _replace(world, chance.choice(world.machines), signal.SIGKILL)


async def kill_after_effect(world: World, chance: random.Random) -> None:
    """Kill the process that has the next effect, at once or within the time in which its result is stored."""
    process_id = await get_ledger(world.folder).wait_for_effect(EFFECT)
    found = [machine for machine in world.machines if machine.process_id == process_id]
    await asyncio.sleep(chance.choice((0, 0, 0.05, 0.2)) * chance.random())
    for machine in found:
        await _replace(world, machine, signal.SIGKILL)


async def terminate(world: World, chance: random.Random) -> None:
    """Ask a process to stop and start another one."""
    await _replace(world, chance.choice(world.machines), signal.SIGTERM)


async def freeze(world: World, chance: random.Random) -> None:
    """Stop a process for a while without ending it; it wakes up and finds what others did."""
    machine = chance.choice(world.machines)
    machine.send(signal.SIGSTOP)
    try:
        await asyncio.sleep(chance.choice((0.5, 3, 20)))
    finally:
        machine.send(signal.SIGCONT)


async def cut(world: World, chance: random.Random) -> None:
    """Take the database away from all processes for a moment."""
    world.storage.go_away(world.machines)
    await asyncio.sleep(chance.random() * 3)
    world.storage.come_back(world.machines)


async def cut_off(world: World, chance: random.Random) -> None:
    """Take the database away from one process, without a word; the others work on."""
    way = chance.choice(world.machines).way
    if way is not None:
        way.hush()
        await asyncio.sleep(chance.choice((0.5, 3, 20)))
        way.let_speak()


async def turn_clock(world: World, chance: random.Random) -> None:
    """Let the clock of a process be wrong by a day for a while."""
    clock = chance.choice(world.machines).clock
    clock.write_text(str(chance.choice((DAY, -DAY))))
    await asyncio.sleep(chance.random() * 3)
    clock.write_text("0")


async def reload(world: World, chance: random.Random) -> None:
    """Change the tools while they work, now and then with a broken edition before the good one."""
    edition = chance.randint(2, 10**6)
    if chance.random() < 0.5:
        (world.folder / "extensions" / "effects" / "extension.py").write_text("this is broken")
        await world.request("POST", "/api/v1/extensions/reload")
    write_tools(world.folder, edition)
    await world.request("POST", "/api/v1/extensions/reload")


async def _replace(world: World, machine: Machine, how: signal.Signals) -> None:
    is_web = machine in world.web
    world.forget([machine])
    ending = asyncio.create_task(machine.end(how))
    if how == signal.SIGKILL or not world.engine.can_share:
        await ending
    if is_web:
        await world.start(web=1, workers=0)
    else:
        await world.start_working()
    await ending
