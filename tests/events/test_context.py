"""Code below a request can find out what it works for."""

from dovetail.events.context import RequestContext, get_request_context, within


def test_outside_of_everything_there_is_no_context() -> None:
    assert get_request_context() is None


def test_what_is_known_adds_up_and_is_taken_back() -> None:
    with within(owner="ann", session_id="s"):
        with within(call_id="c", session_id=None, owner="bob"):
            assert get_request_context() == RequestContext(owner="bob", session_id="s", call_id="c")
        assert get_request_context() == RequestContext(owner="ann", session_id="s")
    assert get_request_context() is None
