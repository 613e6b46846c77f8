"""Every error Dovetail raises, in one tree.

* DovetailError
  x ConfigError          code or settings must be changed; raised as early as possible
    · PromptError        a prompt slot has an invalid value (also a ValueError)
      - PromptSyntaxError  the text of a prompt file cannot be read; carries line and column
        + PromptArgumentsError  an alias has arguments of the wrong kind (also a TypeError)
      - PromptVariableError  a variable of a prompt has no value, or a wrong one
      - PromptFileError  a prompt file cannot be opened (also a TypeError)
    · PromptTypeError    a prompt or its configuration has an unusable type (also a TypeError)
    · KeyWaitError       keys cannot be waited for: no handler, no such output (also a NotImplementedError)
    · KeyPathError       a dotted key leads through a value that has no keys (also a TypeError)
    · SignatureError     a function cannot be used: its signature is unsuitable (also a TypeError)
    · EmptyPromptError   an empty prompt (also a KeyError, rule P60)
    · ExtensionError     an extension folder cannot be loaded; carries file and line
  x ModelError           the model API failed; carries provider, status and request id
    · ContextLengthError the messages do not fit into the model's context; carries `limit` if it is known
    · TransientModelError  a temporary failure: retry; carries `retry_after` if the server sent one
  x ResponseError        the answer is incomplete, not parsable or not valid
    · AnswerTimeoutError the answer exceeded its time limit (also a TimeoutError)
    · AnswerLengthError  the answer was cut off at the limit of tokens before its data was complete
  x ToolError            a tool call failed; the model gets the text and the run continues
  x LimitError           a limit does not allow the next request to a model; carries `limit`, `resets_at`
  x CancelledRunError    the request or run was cancelled
  x NotFoundError        unknown id, or not visible to the caller
  x ConflictError        taken, busy, already answered, or changed by another caller
    · HeadMovedError     a session continued after it was read: read it again
  x StoreError           the database cannot be reached or written at the moment
  x InvalidDataError     the database cannot store a value; a retry does not help
"""

import reprlib
from typing import Any, ClassVar, Literal, TypeAlias

Remedy: TypeAlias = Literal["keys", "models"]
"""Where an operator repairs what failed: the keys of providers, or the models and their downloads."""

_TEXTS = ("message", "hint", "remedy", "problem", "__notes__")
_brief = reprlib.Repr()
_brief.maxstring = _brief.maxother = 100


class DovetailError(Exception):
    """The root of all errors that Dovetail raises on purpose.

    `wire_name` is the name by which clients and stored runs know the class, also after a rename.
    """

    wire_name: ClassVar[str] = "DovetailError"
    wire_message: ClassVar[str | None] = None
    """What clients read instead of the message, if that is only for the log."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls.wire_name = cls.__dict__.get("wire_name", cls.__name__)

    def __init__(self, message: str, *, hint: str | None = None, remedy: Remedy | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.remedy: Remedy | None = remedy

    def __str__(self) -> str:
        return f"{self.message}\n{self.hint}" if self.hint else self.message

    def __reduce__(self) -> Any:
        """Keep all attributes when the error goes to another process, whatever its constructor takes."""
        return _restore, (type(self), self.args), dict(vars(self))

    def __repr__(self) -> str:
        data = {name: value for name, value in vars(self).items() if name not in _TEXTS and value is not None}
        shown = (f", {name}={_brief.repr(value)}" for name, value in data.items())
        return f"{type(self).__name__}({self.message!r}{''.join(shown)})"


def _restore(kind: type[DovetailError], args: tuple[Any, ...]) -> DovetailError:
    error = kind.__new__(kind, *args)
    error.args = args
    return error


class ConfigError(DovetailError):
    """Code or settings must be changed."""


class PromptError(ConfigError, ValueError):
    """A prompt slot has an invalid value."""


class PromptSyntaxError(PromptError):
    """A prompt file has invalid text; `problem` is the message without its place."""

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
    """A prompt's output or its configuration has an unusable type."""


class PromptFileError(PromptError, PromptTypeError):
    """A prompt file cannot be opened: it does not exist, or is not readable."""


class PromptArgumentsError(PromptSyntaxError, PromptTypeError):
    """A prompt file calls a method with arguments of a wrong type."""


class PromptVariableError(PromptError):
    """A variable of a prompt has no value, is unknown, or its value is none of its choices."""


class KeyWaitError(ConfigError, NotImplementedError):
    """Keys cannot be waited for: no handler is registered, or the output does not have them."""


class KeyPathError(ConfigError, TypeError):
    """A dotted key leads through a value that has no keys."""


class SignatureError(ConfigError, TypeError):
    """A function cannot be used this way: its signature is unsuitable or incomplete."""


class EmptyPromptError(ConfigError, KeyError):
    """A prompt has none of the slots that make up a request."""


class ExtensionError(ConfigError):
    """An extension folder cannot be loaded; `file` and `line` say where, if known."""

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
        remedy: Remedy | None = None,
    ) -> None:
        super().__init__(message, hint=hint, remedy=remedy)
        self.provider = provider
        self.status = status
        self.request_id = request_id


class ContextLengthError(ModelError):
    """The messages are longer than the model can read; `limit` is its context in tokens, if known."""

    def __init__(self, message: str, *, limit: int | None = None, **details: Any) -> None:
        super().__init__(message, **details)
        self.limit = limit


class TransientModelError(ModelError):
    """A temporary failure of the model API: it is busy, restarting or unreachable."""

    wire_name = "PassingModelError"

    def __init__(self, message: str, *, retry_after: float | None = None, **details: Any) -> None:
        super().__init__(message, **details)
        self.retry_after = retry_after


PassingModelError = TransientModelError
"""The former name, for code that catches it."""


class ResponseError(DovetailError):
    """The model answered, but not as requested."""


class AnswerTimeoutError(ResponseError, TimeoutError):
    """The answer was not complete within its time limit."""


class AnswerLengthError(ResponseError):
    """The answer was cut off at the limit of tokens before its data was complete."""


class ToolError(DovetailError):
    """A tool call failed; `type` is a snake_case word that programs can match.

    >>> def count(item: str) -> int:
    ...     '''Count the pieces of an item.'''
    ...     raise ToolError(f"Unknown item {item!r}.", type="not_found")
    >>> Agent(tools=[count]).run("How many saws?").text
    'We have no saws.'
    """

    def __init__(self, message: object, *, type: str = "execution_failed", data: Any = None) -> None:
        super().__init__(str(message))  # tools also write `raise ToolError(error)`
        self.type = type
        self.data = data


class LimitError(DovetailError):
    """A limit does not allow the next request to a model.

    `limit` is the reason that a run ends with; a daily limit resets at the time `resets_at`, in seconds since
    1970.
    """

    def __init__(
        self,
        message: str,
        *,
        limit: Literal["max-cost", "max-calls", "max-tokens"],
        resets_at: float | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(message, hint=hint)
        self.limit: Literal["max-cost", "max-calls", "max-tokens"] = limit
        self.resets_at = resets_at


class CancelledRunError(DovetailError):
    """The request or run was cancelled."""


class NotFoundError(DovetailError):
    """The id is unknown, or not visible to the caller."""


class ConflictError(DovetailError):
    """The thing is taken, busy, already answered, or was changed by another caller."""


class HeadMovedError(ConflictError):
    """The session continued after it was read: read it again."""


class StoreError(DovetailError):
    """The database cannot be reached or written at the moment."""

    wire_message = "The database cannot be reached or written at the moment."


class InvalidDataError(DovetailError):
    """The database cannot store a value; a retry does not help."""
