"""The socket that servers listen on."""

import socket

from dovetail.cli.process import open_listener


def test_a_response_is_sent_without_waiting_for_the_client_to_confirm_its_first_piece() -> None:
    with open_listener("127.0.0.1", 0, "") as listener, socket.create_connection(listener.getsockname()):
        connection, _ = listener.accept()
        with connection:
            assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
