"""Views of a prompt, the same on both sides: a result, or the error's classes, with its warnings."""

import itertools
import warnings
from collections.abc import Callable, Iterator
from typing import Any

from conformance.notation import decode, encode

Warned = list[str]
"""The warnings of the current side, in order; a view takes those that it caused."""

RICH = (False, True, None)
STRICT = (True, False, None)
CUT = 300


def take(view: Callable[[], Any], warned: Warned) -> dict[str, Any]:
    """Return the result of a view."""
    warned.clear()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result: dict[str, Any] = {"result": encode(view())}
    except RecursionError:
        result = {"error": ["RecursionError"], "message": ""}
    except Exception as error:
        classes = [kind.__name__ for kind in type(error).__mro__ if kind not in (object, BaseException)]
        result = {"error": classes, "message": str(error.args[0] if error.args else error)[:CUT]}
    if warned:
        result["warnings"] = list(warned)
    return result


def take_all(case: dict[str, Any], prompt: Any, warned: Warned) -> dict[str, Any]:
    """Return all views of a prompt, by name."""
    return {name: take(view, warned) for name, view in _list_views(case, prompt)}


def _list_views(case: dict[str, Any], prompt: Any) -> Iterator[tuple[str, Callable[[], Any]]]:
    roles = [None, decode(case["role_mapping"])] if "role_mapping" in case else [None]
    for given in roles:
        name = "" if given is None else "roles"
        yield f"text {name}".strip(), lambda given=given: prompt.to_text(role_mapping=given)
        for rich, strict in itertools.product(RICH, STRICT):
            yield (
                f"messages rich={rich} strict={strict} {name}".strip(),
                lambda given=given, rich=rich, strict=strict: prompt.to_messages(
                    role_mapping=given, rich_content=rich, strict_role_orders=strict
                ),
            )
    yield "object", lambda: _describe_object(prompt.to_prompt_object())
    yield "data", lambda: prompt.get()
    yield "data own", lambda: prompt.get(inherit=False)
    for inherit in (False, True):
        name = " inherit" if inherit else ""
        yield f"serializable{name}", lambda inherit=inherit: prompt.to_serializable_prompt_data(inherit)
        yield f"json{name}", lambda inherit=inherit: prompt.to_json_prompt(inherit)
        yield f"yaml{name}", lambda inherit=inherit: prompt.to_yaml_prompt(inherit)
    yield from _list_model_views(case, prompt)


def _describe_object(made: Any) -> dict[str, Any]:
    slots = {name: getattr(made, name) for name in type(made).model_fields}
    for slot in ("chat_history", "attachment"):
        slots[slot] = [entry.model_dump() for entry in slots[slot]]
    return {**slots, "extra": made.model_extra}


def _list_model_views(case: dict[str, Any], prompt: Any) -> Iterator[tuple[str, Callable[[], Any]]]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = prompt.to_output_model()
    except Exception as error:
        failure = error

        def fail() -> Any:
            raise failure

        yield "model", fail
        return
    yield "model", lambda: _describe_model(model)
    yield "model schema", lambda: model.model_json_schema()
    for number, answer in enumerate(case.get("answers", [])):
        yield f"answer {number}", lambda answer=answer: _read_answer(model, decode(answer))


def _read_answer(model: Any, answer: Any) -> dict[str, Any]:
    read = model.model_validate(answer)
    return {"fields": dict(read), "dump": read.model_dump()}


def _describe_model(model: Any) -> dict[str, Any]:
    return {
        "name": model.__name__,
        "fields": {
            name: {
                "required": field.is_required(),
                "default": field.default,
                "description": field.description,
            }
            for name, field in model.model_fields.items()
        },
    }
