"""What every chat is told beside its agent's prompt: when, where, and which skills there are.

It is the same for all turns of a session, so that a model's prompt cache holds.
"""

import time
from datetime import UTC, datetime

from dovetail.sessions.host import ChatHost
from dovetail.sessions.session import Session
from dovetail.skills.injection import summarize_skills


def build_preface(host: ChatHost, session: Session) -> str:
    """The preface of a session (document 004)."""
    began = datetime.fromtimestamp(session.created_at, UTC).astimezone()
    lines = [
        f"This conversation began on {began:%A, %Y-%m-%d at %H:%M} ({time.tzname[0]}).",
        f"The folder you work in is called {host.workspace.name!r}.",
        summarize_skills(host.skills),
    ]
    return "\n".join(line for line in lines if line)
