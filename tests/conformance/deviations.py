"""All deliberate differences between Dovetail and the original, each with its reason.

Two more come in earlier, in `translation.py`, where the original gets a translated case: text is dedented
before it is stripped, because an indented text in triple quotes would keep the indent of all lines but the
first (rule P30); `0` and `False` are rendered, because dropping them loses what the user wrote (rule P19).
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from conformance.causes import (
    assign_nothing_twice,
    break_no_lines_oddly,
    fill_nothing,
    give_no_defaults,
    join_no_sets,
    use_no_bools,
    use_no_tuples,
    use_one_item_type,
    use_plain_classes,
    want_no_output,
    write_history_once,
)
from conformance.deviation_matchers import (
    adds_mapping_to_set,
    assigns_over_something,
    casts_to_bool,
    exports_output,
    file_has,
    has_odd_breaks,
    has_surrogates,
    holds_mapping_proxy,
    holds_pydantic_class,
    makes_keys_text,
    mixes_item_types,
    orders_a_set,
    reads_pairs,
    rename_module,
    skips_alias,
    space_info_lines,
    warn_of_the_format,
    writes_history_twice,
)
from conformance.differences import Difference, crash


@dataclass(frozen=True)
class Deviation:
    """An intended difference: its name, its reason, and how to recognize it.

    `without` returns a case without the cause, which is compared too: nothing else may hide behind it.
    """

    name: str
    reason: str
    settles: Callable[[Difference], bool]
    without: Callable[[dict[str, Any]], dict[str, Any]] | None = None


@dataclass(frozen=True)
class Rewrite:
    """An intended difference that can be undone exactly: the result that the original should have had."""

    name: str
    reason: str
    rewrite: Callable[[Difference], dict[str, Any]]


REWRITES: tuple[Rewrite, ...] = (
    Rewrite(
        "info-colon", "an info line is `- title : value`, as the specification writes it", space_info_lines
    ),
    Rewrite("format-warning", "an unknown output_format is worth one warning", warn_of_the_format),
    Rewrite("module-name", "a JSON Schema may name the module that makes the model", rename_module),
)


DEVIATIONS: tuple[Deviation, ...] = (
    Deviation(
        "root-structure",
        "any output of a JSON answer is rendered: a list, a tuple, a class; the original wants a mapping",
        lambda difference: (
            crash(
                "text",
                "messages",
                "agent",
                error="TypeError",
                message=r".*(not iterable|update sequence|unbound method)",
            )(difference)
            or crash("text", "messages", "agent", error="ValueError", message="dictionary update")(difference)
        ),
    ),
    Deviation(
        "root-mapping",
        "any mapping as output has a model; the original makes one of a dict alone",
        lambda difference: (
            crash("model", "answer", error="AttributeError", message="'types.UnionType' object")(difference)
            and holds_mapping_proxy(difference.slot("output"))
        ),
    ),
    Deviation(
        "root-list",
        "a list of pairs as output is a list, and an instance its text",
        reads_pairs,
        want_no_output,
    ),
    Deviation(
        "history-log",
        "the chat history never drops a message, the parent's come first",
        writes_history_twice,
        write_history_once,
    ),
    Deviation(
        "assignment",
        "`prompt[key] = value` stores the value; the original merges it",
        assigns_over_something,
        assign_nothing_twice,
    ),
    Deviation(
        "export",
        "tuples of the output become `$type`, `$desc`, `$default` at every depth, so that it can be loaded; "
        "bytes in it become text",
        exports_output,
        use_no_tuples,
    ),
    Deviation(
        "odd-breaks",
        "YAML text with U+0085, U+2028 or U+2029 is escaped: it would be read as \\n",
        has_odd_breaks,
        break_no_lines_oddly,
    ),
    Deviation(
        "pydantic-class",
        "a pydantic class keeps its own fields, required-ness and defaults",
        holds_pydantic_class,
        use_plain_classes,
    ),
    Deviation(
        "export-crash",
        "a description or default that is not text can be exported; the original joins it to text and fails",
        crash("serializable", "json", "yaml", "agent", error="TypeError", message="sequence item"),
    ),
    Deviation(
        "not-text",
        "a number, a bool or a set as info, and a text part whose text is not a text, are printed as text",
        crash("text", "messages", "agent", error="TypeError", message="sequence item"),
    ),
    Deviation(
        "json-set",
        "a set is exported to JSON as a list",
        crash("json", "agent", error="TypeError", message="Object of type set is not JSON"),
    ),
    Deviation(
        "titles",
        "a title mapping that is not a mapping is ignored",
        crash("text", "messages", error="AttributeError", message=".* has no attribute 'get'"),
    ),
    Deviation(
        "yaml-subclass",
        "text and numbers of a subclass (an enum member) can be dumped",
        crash(error="RepresenterError", message="cannot represent an object"),
    ),
    Deviation(
        "bare-generic",
        "a bare `typing.List` or `typing.Dict` is named `list` or `dict`",
        crash(error="IndexError", message="tuple index out of range"),
    ),
    Deviation(
        "content",
        "history content that is neither text nor a list is printed as text",
        lambda difference: (
            crash(error="ValidationError", message=r".*PromptModel\nchat_history|.*ChatMessage\ncontent")(
                difference
            )
            or crash(error="ValidationError", message=r".*\ncontent\.")(difference)
        ),
    ),
    Deviation(
        "no-options",
        "options that were set to None are no options",
        crash(error="ValidationError", message=r".*PromptModel\noptions"),
    ),
    Deviation(
        "field-names",
        "a field may have a name that pydantic reserves",
        crash("model", error="PydanticUserError", message="Fields must not use names"),
    ),
    Deviation(
        "field-types",
        "a field may have any class as its type",
        crash("model", error="PydanticSchemaGenerationError", message="Unable to generate"),
    ),
    Deviation(
        "role-none",
        "a role may be mapped to None; the original takes it for the end of a message",
        crash("messages", error="IndexError", message="list index out of range"),
    ),
    Deviation(
        "cast",
        "a cast that fails is a validation error",
        lambda difference: (
            crash("answer", error="TypeError", message="", may_fail=True)(difference)
            and difference.our_view.get("error", [""])[0] == "ValidationError"
        ),
    ),
    Deviation(
        "bool",
        '"false", "no" and "0" are cast to False, a word that is neither is refused',
        casts_to_bool,
        use_no_bools,
    ),
    Deviation(
        "item-types",
        "each list field is cast to its own item type; the original takes the last one for all",
        mixes_item_types,
        use_one_item_type,
    ),
    Deviation(
        "alias-parameters",
        "parameters of a wrong form are an error, also for an alias that the agent does not have",
        lambda difference: (
            difference.view == "load" and ".alias 'nothing_such'" in difference.our_view.get("message", "")
        ),
    ),
    Deviation(
        "alias-order",
        "parameters of a wrong form are found before the first alias is called",
        lambda difference: (
            crash("load", error="TypeError", message=r".* missing \d+ required positional", may_fail=True)(
                difference
            )
            and "the parameters of .alias" in difference.our_view.get("message", "")
        ),
    ),
    Deviation(
        "typed-dict",
        "a typed dict of the standard library is a type like others",
        crash("model", error="PydanticUserError", message="Please use `typing_extensions"),
    ),
    Deviation(
        "unknown-alias", "an alias that the agent does not have is skipped with a warning", skips_alias
    ),
    Deviation(
        "default",
        "`$default` becomes the field's default; the original drops it",
        file_has("$default"),
        give_no_defaults,
    ),
    Deviation(
        "alias-mappings",
        "placeholders are filled in aliases too",
        file_has(".alias", mapped=True),
        fill_nothing,
    ),
    Deviation("set-order", "the items of a set have no order", orders_a_set),
    Deviation(
        "set-mapping",
        "a mapping set onto a set is kept; the original keeps its keys alone",
        adds_mapping_to_set,
        join_no_sets,
    ),
    Deviation("key-text", "a key that is one placeholder becomes text", makes_keys_text),
    Deviation(
        "key-crash",
        "a key that is one placeholder becomes text; the original cannot render other keys",
        crash(error="TypeError", message="keywords must be strings"),
    ),
    Deviation(
        "set-join",
        "a set that is joined with what no set can hold becomes a list",
        lambda difference: any(
            view.get("message", "").startswith("unhashable type") for view in difference.theirs.values()
        ),
        join_no_sets,
    ),
    Deviation("surrogates", "an escaped pair of surrogates in JSON is one character", has_surrogates),
    Deviation(
        "json-text",
        "what JSON allows is read, also U+2028 in a text",
        crash("load", error="ValueError", message=".*Unexpected ."),
    ),
    Deviation(
        "long-text",
        "text that is too long for a path is not tried as one",
        crash("load", error="OSError", message="36"),
    ),
)


def reduce(case: dict[str, Any], names: Iterable[str]) -> tuple[dict[str, Any], list[str]]:
    """Return a case without the causes of these deviations, and those whose cause was taken out."""
    removed: list[str] = []
    for deviation in DEVIATIONS:
        if deviation.name in names and deviation.without is not None:
            smaller = deviation.without(case)
            removed += [deviation.name] if smaller != case else []
            case = smaller
    return case, removed
