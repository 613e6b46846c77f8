"""Ask over HTTP, as the page does: read the stream, answer approvals and browser tools, stop what hangs."""

import json
import threading
import time
import uuid
from typing import Any

import httpx

from evals.reality.outcome import Outcome
from evals.reality.place import Place
from evals.reality.visit import Question

TAB = "tab-1"


class Service:
    """A running server; each question is a new chat unless it follows another one."""

    def __init__(self, address: str, place: Place, *, streams: bool = True) -> None:
        self._client = httpx.Client(base_url=address, timeout=None)
        self._place = place
        self._streams = streams
        self._session = ""

    def ask(self, question: Question, seconds: float) -> Outcome:
        """Send the question and wait for the answer; approvals and browser tools get theirs on the way."""
        if not question.follows or not self._session:
            self._session = f"ses_{uuid.uuid4().hex[:12]}"
        answered, watcher = threading.Event(), _Watcher(self._client, self._session, question, seconds)
        thread = threading.Thread(target=watcher.watch, args=[answered])
        thread.start()
        try:
            text = self._send(question)
            if question.wait_for_tasks:
                self._wait_for_tasks(seconds)
        except httpx.HTTPError as error:
            text, watcher.problem = "", watcher.problem or f"{type(error).__name__}: {error}"
        finally:
            answered.set()
            thread.join()
        return Outcome(
            text=text, calls=self._place.take_calls(), folder=self._place.folder, problem=watcher.problem
        )

    def close(self) -> None:
        """Close the connections to the server, before it stops."""
        self._client.close()

    def _send(self, question: Question) -> str:
        body: dict[str, Any] = {"message": question.send or question.text, "session_id": self._session}
        streams = bool(question.browser) or (self._streams and not question.reads_json)
        body |= {"tab_id": TAB} if streams else {}
        body |= {"agent": question.agent} if question.agent else {}
        if not streams:
            response = self._client.post("/api/v1/chat", json=body, headers={"accept": "application/json"})
            found = response.json()
            answer = found.get("response", found)
            return answer if isinstance(answer, str) else json.dumps(answer)
        with self._client.stream("POST", "/api/v1/chat", json=body) as response:
            chunks = [json.loads(line[6:]) for line in response.iter_lines() if line.startswith("data: {")]
        errors = [chunk.get("errorText", "") for chunk in chunks if chunk.get("type") == "error"]
        return "".join(chunk["delta"] for chunk in chunks if chunk.get("type") == "text-delta") or "".join(
            errors
        )

    def _wait_for_tasks(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            children = self._client.get(f"/api/v1/sessions/{self._session}/children").json()["children"]
            if all(child["state"] == "ended" for child in children):
                return
            time.sleep(0.5)


class _Watcher:
    """Answers what a run asks, and stops runs that take too long or ask something unexpected."""

    def __init__(self, client: httpx.Client, session: str, question: Question, seconds: float) -> None:
        self.problem = ""
        self._session = session
        self._client = client
        self._question = question
        self._end = time.monotonic() + seconds
        self._seconds = seconds

    def watch(self, answered: threading.Event) -> None:
        """Look for open questions until the answer is there."""
        while not answered.wait(1.5):
            for each in self._client.get("/api/v1/asks").json()["asks"]:
                self._answer(each)
            if time.monotonic() > self._end and not self.problem:
                self.problem = f"no answer after {self._seconds:.0f} s"
                self._stop()

    def _answer(self, ask: dict[str, Any]) -> None:
        payload = ask["payload"]
        tool = payload.get("tool") or payload.get("name", "")
        if ask["kind"] == "approval" and tool in self._question.approve:
            self._client.post(f"/api/v1/asks/{ask['id']}", json={"approved": True})
        elif ask["kind"] == "browser" and tool in self._question.browser:
            self._client.post(f"/api/v1/asks/{ask['id']}/claim", json={"tab_id": TAB})
            output = self._question.browser[tool]
            acknowledgement = {
                "toolCallId": ask["call_id"],
                "tabId": TAB,
                "status": "success",
                "output": output,
            }
            self._client.post("/ai/tools/ack", json=acknowledgement)
        else:
            self.problem = f"asks for {ask['kind']} of {tool or payload}: {str(payload)[:160]}"
            self._client.post(f"/api/v1/runs/{ask['run_id']}/cancel", json={"mode": "now"})

    def _stop(self) -> None:
        run = self._client.get(f"/api/v1/sessions/{self._session}").json().get("run_id")
        if run:
            self._client.post(f"/api/v1/runs/{run}/cancel", json={"mode": "now"})
