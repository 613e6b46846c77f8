"""Every error Dovetail raises, in one tree.

* DovetailError
  x ConfigError          the developer must change code or settings; raised as early as can be
    · PromptError        a prompt slot holds something it cannot hold (also a ValueError)
      - PromptSyntaxError  the text of a prompt file cannot be read; carries line and column
        + PromptArgumentsError  an alias has arguments of the wrong kind (also a TypeError)
      - PromptFileError  a prompt file cannot be opened (also a TypeError)
    · PromptTypeError    a prompt or its configuration is of a kind that cannot be used (also a TypeError)
    · KeyWaitError       keys cannot be waited for: no handler, no such output (also a NotImplementedError)
    · KeyPathError       a dotted key leads through a value that has no keys (also a TypeError)
    · SignatureError     a function cannot be used for this: its signature says too little (also a TypeError)
    · EmptyPromptError   a prompt with nothing to say (also a KeyError, rule P60)
    · ExtensionError     an extension folder cannot be loaded; carries file and line
  x ModelError           the model API failed; carries provider, status and request id
    · TransientModelError  a temporary failure: retry; carries `retry_after` if the server sent one
  x ResponseError        the answer is not what was asked for: keys missing, not parsable, not valid
    · AnswerTimeoutError the answer took longer than its time limit (also a TimeoutError)
  x ToolError            a tool says no; the text goes to the model and the run goes on
  x CancelledRunError    somebody stopped the work on purpose
  x NotFoundError        nothing there by that id, or nothing the caller may see
  x ConflictError        it is taken, busy, answered already or has changed meanwhile
  x StoreError           the database cannot be reached or written just now
  x InvalidDataError     the database is there, but cannot hold a value: only other data would help
"""

from typing import Any, ClassVar


class DovetailError(Exception):
    """The root of all errors that Dovetail raises on purpose.

    `wire_name` is the name by which clients and stored runs know the class, also after a rename.
    """

    wire_name: ClassVar[str] = "DovetailError"

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls.wire_name = cls.__dict__.get("wire_name", cls.__name__)

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}\n{self.hint}" if self.hint else self.message


class ConfigError(DovetailError):
    """The developer must change code or settings."""


class PromptError(ConfigError, ValueError):
    """A prompt slot holds something it cannot hold."""


class PromptSyntaxError(PromptError):
    """The text of a prompt file is not what it should be; `problem` is the message without its place."""

    def __init__(
        self,
        problem: str,
        *,
        source: str,
        line: int | None = None,
        column: int | None = None,
        hint: str | None = None,
    ) -> None:
        place = f", line {line}, column {column}" if line else ""
        super().__init__(f"{source}{place}: {problem}", hint=hint)
        self.problem = problem
        self.source = source
        self.line = line
        self.column = column


class PromptTypeError(ConfigError, TypeError):
    """A prompt's output or its configuration is of a kind that cannot be used."""


class PromptFileError(PromptError, PromptTypeError):
    """A prompt file cannot be opened: it does not exist, or may not be read."""


class PromptArgumentsError(PromptSyntaxError, PromptTypeError):
    """A prompt file gives a method arguments of the wrong kind."""


class KeyWaitError(ConfigError, NotImplementedError):
    """Keys cannot be waited for: there is no handler, or the request's output does not have them."""


class KeyPathError(ConfigError, TypeError):
    """A dotted key leads through a value that has no keys."""


class SignatureError(ConfigError, TypeError):
    """A function cannot be used this way: its signature is of the wrong kind, or says too little."""


class EmptyPromptError(ConfigError, KeyError):
    """A prompt has none of the slots that make up a request."""


class ExtensionError(ConfigError):
    """An extension folder cannot be loaded; `file` and `line` say where, when that is known."""

    def __init__(
        self, message: str, *, file: str | None = None, line: int | None = None, hint: str | None = None
    ) -> None:
        super().__init__(message, hint=hint)
        self.file = file
        self.line = line


class ModelError(DovetailError):
    """The model API failed."""

    def __init__(
        self,
        message: str,
        *,
        provider: str,
        status: int | None = None,
        request_id: str | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(message, hint=hint)
        self.provider = provider
        self.status = status
        self.request_id = request_id


class TransientModelError(ModelError):
    """A temporary failure of the model API: it is busy, restarting or unreachable."""

    wire_name = "PassingModelError"

    def __init__(self, message: str, *, retry_after: float | None = None, **details: Any) -> None:
        super().__init__(message, **details)
        self.retry_after = retry_after


PassingModelError = TransientModelError
"""The former name, for code that catches it."""


class ResponseError(DovetailError):
    """The model answered, but not what was asked for."""


class AnswerTimeoutError(ResponseError, TimeoutError):
    """The answer was not complete within its time limit."""


class ToolError(DovetailError):
    """A tool says no; `type` is a snake_case word that programs can match."""

    def __init__(self, message: object, *, type: str = "execution_failed", data: Any = None) -> None:
        super().__init__(str(message))  # tools also write `raise ToolError(error)`
        self.type = type
        self.data = data


class CancelledRunError(DovetailError):
    """The request or run was cancelled on purpose."""


class NotFoundError(DovetailError):
    """There is nothing by that id, or nothing that the caller may see."""


class ConflictError(DovetailError):
    """The thing is taken, busy, answered already or has changed meanwhile."""


class StoreError(DovetailError):
    """The database cannot be reached or written just now."""


class InvalidDataError(DovetailError):
    """The database cannot hold a value; trying again does not help."""
