"""A choice is ranked by what the model leans to, and weighed by its odds for yes."""

from math import log

import pytest

from dovetail.events.call import ToolSpec
from dovetail.requesters.local.fit import (
    CHOSEN_NEEDS,
    LIBRARY_NEEDS,
    MOST_CANDIDATES,
    PASSED_OVER_NEEDS,
    Token,
    build_about_texts,
    build_fit_texts,
    find_need,
    find_question,
    is_library,
    rank_tools,
    read_odds,
    read_tokens,
)


def make(name: str, description: str = "Do it.") -> ToolSpec:
    return ToolSpec(name=name, description=description, parameters={})


def write(name: str, **scores: float) -> list[Token]:
    """Return the tokens of a choice whose first token of the name has these alternatives."""
    return [
        Token('{"', ()),
        Token("tool", ()),
        Token('":', ()),
        Token(' "', ()),
        Token(name, tuple(scores.items())),
        Token('"}', ()),
    ]


ADD, WEATHER, MAIL = make("add"), make("weather"), make("mail")


def test_engine_scores_are_read() -> None:
    other = {"token": "no", "logprob": -2.0}
    written = {"token": "yes", "logprob": -0.1, "top_logprobs": [other]}
    assert read_tokens({"logprobs": {"content": [written]}}) == [Token("yes", (("no", -2.0),))]
    assert read_tokens({"delta": {}}) == []


def test_tools_are_ranked_by_their_lead_over_the_ways() -> None:
    tokens = write("talk", talk=-0.5, we=-2.0, add=-1.0)
    ranked = rank_tools(tokens, [WEATHER, ADD, MAIL], ["talk"])
    assert [(tool.name, lead) for tool, lead in ranked] == [("add", -0.5), ("weather", -1.5), ("mail", -1.5)]


def test_tool_far_behind_the_ways_is_not_weighed() -> None:
    assert rank_tools(write("talk", talk=-0.1, add=-8.0), [ADD, WEATHER], ["talk"]) == []


def test_written_name_comes_first_among_names_that_begin_alike() -> None:
    tools = [make("get_time"), make("get_news"), make("get_mail"), make("get_note")]
    tokens = [*write("get", get=-0.1, talk=-3.0)[:-1], Token("_mail", ()), Token('"}', ())]
    ranked = rank_tools(tokens, tools, ["talk"])
    assert ranked[0][0].name == "get_mail"
    assert len(ranked) == MOST_CANDIDATES


def test_name_that_begins_within_a_token_is_read() -> None:
    tokens = [Token('{"tool":', ()), Token(' "add', ((' "add', -0.1), (' "talk', -1.1)))]
    [(tool, lead)] = rank_tools(tokens, [ADD], ["talk"])
    assert tool is ADD
    assert lead == pytest.approx(1.0)


def test_odds_sum_all_spellings() -> None:
    token = Token("Yes", ((" yes", log(0.3)), ("Yes", log(0.3)), ("no", log(0.2)), ("maybe", log(0.1))))
    assert read_odds([token]) == pytest.approx(log(3), abs=0.01)
    assert read_odds([]) == 0


def test_question_about_the_fit_changes_only_at_its_end() -> None:
    one, two = build_fit_texts("Is it warm?", WEATHER), build_fit_texts("1 + 2?", ADD)
    assert one[0] == two[0]
    assert one[1]["content"] == "Request: Is it warm?\nTool: weather: Do it."
    assert one[2] == {"role": "assistant", "content": "Fits:"}


def test_short_question_brings_the_one_before_it() -> None:
    first = {"role": "user", "content": "How warm is it\nin Paris at this time of the year?"}
    answer = {"role": "assistant", "content": "20 °C."}
    assert find_question([first, answer, {"role": "user", "content": "And in Rome?"}]) == (
        "How warm is it in Paris at this time of the year? And in Rome?"
    )
    assert find_question([answer, first]) == "How warm is it in Paris at this time of the year?"
    assert find_question([{"role": "user", "content": "Hi"}, first]).startswith("How warm")


def test_tool_that_was_passed_over_needs_better_odds_than_one_that_was_named() -> None:
    assert find_need(ADD, 0.5) == find_need(ADD) == CHOSEN_NEEDS
    assert find_need(ADD, -0.5) == PASSED_OVER_NEEDS


@pytest.mark.parametrize(
    "tool",
    [
        make("search_docs"),
        make("ask", "Look up words in the handbook."),
        make("kb", "Query the knowledge base."),
    ],
)
def test_tool_that_searches_documents_is_weighed_by_what_the_request_is_about(tool: ToolSpec) -> None:
    assert is_library(tool)
    assert find_need(tool, -4.0) == find_need(tool, 4.0) == LIBRARY_NEEDS


@pytest.mark.parametrize(
    "tool", [make("web", "Search the web."), make("find_files", "Search files."), make("help", "Get help.")]
)
def test_other_tools_are_weighed_by_what_they_do(tool: ToolSpec) -> None:
    assert not is_library(tool)


def test_question_what_a_request_is_about_differs_only_at_its_end() -> None:
    one, two = build_about_texts("Is it warm?"), build_about_texts("1 + 2?")
    assert one[0] == two[0]
    assert one[1] == {"role": "user", "content": "Request: Is it warm?"}
    token = Token(" ours", ((" ours", log(0.6)), (" gen", log(0.2)), (" x", log(0.2))))
    assert read_odds([token], "ours", "general") == pytest.approx(log(3), abs=0.01)
