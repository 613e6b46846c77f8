"""Brings a journal that was left behind into a state from which its run can go on.

Children do not go on: the call that started one is told to its caller as interrupted, like any other.
"""

from dataclasses import replace

from dovetail.messages.event import RunResume, TurnEnd, TurnReset
from dovetail.runs.journal import Journal
from dovetail.runs.replay import Replay, replay
from dovetail.runs.spent import count_spent


def mend(journal: Journal, number: int) -> Replay:
    """Close what cannot go on and void what broke off; gives what was done so far.

    Events go on after `number`; what readers saw between the last stored event and it is told to be void.
    """
    root = (journal.run_id,)
    stored = journal.last
    journal.leap(number)
    journal.append(RunResume(stored), root)
    journal.close_children()
    done = replay(journal.after(0), root)
    if done.has_partial:
        journal.append(TurnReset(), root)
    elif done.is_in_turn and not done.pending:
        journal.append(TurnEnd(done.turns + 1, done.open_usage, "tool-calls"), root)
    entries = journal.after(0)
    return replace(replay(entries, root), spent=count_spent(entries))
