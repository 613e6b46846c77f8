"""What the processes of a soak use: memory, open files and threads, read while only chats go on."""

from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from resume.machine import Machine

ROOM = {"memory": (1.25, 30.0), "files": (1.0, 12.0), "threads": (1.0, 8.0)}
"""How far the last third of the readings may lie above the first: this many times, and this much more."""
WARM_UP = 5
"""The readings in which a process that has just started opens its connections."""
LEAST = 4
"""With fewer readings in a third nothing is said."""


@dataclass
class Gauge:
    """Readings of each process, in their order; memory in MB."""

    readings: dict[int, list[dict[str, float]]] = field(default_factory=dict[int, list[dict[str, float]]])

    def read(self, machines: list[Machine]) -> None:
        """Read all processes that live."""
        for machine in machines:
            if machine.is_alive and (reading := read_process(machine.process_id)):
                self.readings.setdefault(machine.process_id, []).append(reading)

    def find_growth(self) -> list[str]:
        """Return what grew from the first third of the readings to the last."""
        problems: list[str] = []
        for process_id, rows in self.readings.items():
            settled = rows[WARM_UP:]
            third = len(settled) // 3
            for name, (times, more) in ROOM.items() if third >= LEAST else ():
                first, last = (
                    median(row[name] for row in part) for part in (settled[:third], settled[-third:])
                )
                if last > first * times + more:
                    problems.append(f"process {process_id}: {name} grew from {first:.0f} to {last:.0f}")
        return problems

    def describe(self) -> str:
        """Return the first and the last reading of each process."""
        lines = [f"  {process_id}: {rows[0]} -> {rows[-1]}" for process_id, rows in self.readings.items()]
        return "\n".join(lines)


def read_process(process_id: int) -> dict[str, float]:
    """Return what a process uses; nothing if it ends in this moment."""
    place = Path(f"/proc/{process_id}")
    try:
        words = dict(line.split(":", 1) for line in (place / "status").read_text().splitlines())
        files = float(len(list((place / "fd").iterdir())))
        return {
            "memory": round(int(words["VmRSS"].split()[0]) / 1024),
            "files": files,
            "threads": float(words["Threads"]),
        }
    except (OSError, KeyError):
        return {}
