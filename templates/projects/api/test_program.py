"""The program with a model that plays a script: no network, the same answer each time."""

from program import Ticket, sort_message

from dovetail.testing import ScriptedRequester


def test_a_message_becomes_a_ticket() -> None:
    model = ScriptedRequester(['{"topic": "delivery", "is_urgent": true, "summary": "Order 42 is late."}'])
    ticket = sort_message("Where is order 42?", model)
    assert ticket == Ticket(topic="delivery", is_urgent=True, summary="Order 42 is late.")
    assert "Where is order 42?" in str(model.requests[0].messages)
