"""The socket that a command serves on."""

import errno
import os
import socket

from dovetail.errors import ConfigError


def open_listener(host: str, port: int, another: str) -> socket.socket:
    """A socket that listens, or a clear error; `another` is how `{port}` is chosen when this one is taken."""
    if not 0 <= port <= 65535:
        raise ConfigError(f"there is no port {port}; ports are 0 to 65535")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=2048)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            hint = f"Stop what listens there, or choose another one: {another.format(port=port + 1)}."
            raise ConfigError(f"port {port} on {host} is taken", hint=hint) from error
        raise ConfigError(f"cannot listen on {host}:{port}: {os.strerror(error.errno or 0)}") from error
