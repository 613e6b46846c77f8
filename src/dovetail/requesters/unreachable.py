"""Says why a model server could not be reached, or was lost."""

import os

from dovetail.errors import ModelError
from dovetail.lazy import lazy
from dovetail.requesters.failures import Failures

aiohttp = lazy("aiohttp")


def explain_connection(error: Exception, failures: Failures) -> ModelError:
    """The model error for a failure of the network."""
    where = f"{failures.provider} at {failures.address}"
    if isinstance(error, aiohttp.ClientProxyConnectionError | aiohttp.ClientHttpProxyError):
        return failures.fail_passing(
            f"the proxy to {where} does not work: {error}", hint="Check model.proxy."
        )
    if isinstance(error, aiohttp.ClientSSLError):
        return failures.fail(
            f"no secure connection to {where}: {error}",
            hint="Check the certificate, or whether the address begins with http rather than https.",
        )
    if isinstance(error, aiohttp.ServerTimeoutError):
        return failures.fail_passing(f"{where} does not let us connect in time", hint=_hint(failures))
    if isinstance(error, aiohttp.ClientConnectorError):
        return failures.fail_passing(f"{where} cannot be reached: {_describe(error)}", hint=_hint(failures))
    if isinstance(error, aiohttp.InvalidURL):
        return failures.fail(f"{failures.address!r} is no address", hint="Check model.base_url.")
    return failures.fail_passing(f"the connection to {where} was lost{_describe(error, before=': ')}")


def _describe(error: Exception, before: str = "") -> str:
    number, reason = getattr(error, "errno", None), getattr(error, "strerror", None)
    if isinstance(number, int) and number > 0:
        reason = os.strerror(number)
    return f"{before}{reason}" if reason else "" if before else str(error)


def _hint(failures: Failures) -> str:
    if failures.provider == "ollama":
        return "Start it with `ollama serve`, or set model.base_url to where it runs."
    return "Is the server running, and is model.base_url its address?"
