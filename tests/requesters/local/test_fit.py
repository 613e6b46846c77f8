"""A tool is weighed by the odds for yes, or by what the request is about."""

from math import log

import pytest

from dovetail.events.call import ToolSpec
from dovetail.requesters.local.fit import (
    CHOSEN_NEEDS,
    FAR_AHEAD,
    LIBRARY_NEEDS,
    NAMED_NEEDS,
    OTHERS_NEED,
    TOPIC_NEEDS,
    Token,
    asks_for_file,
    build_about_texts,
    build_fit_texts,
    find_fitting,
    find_need,
    find_question,
    has_value,
    is_library,
    is_named,
    may_fit,
    read_odds,
    read_tokens,
    shorten,
)


def make(name: str, description: str = "Do it.") -> ToolSpec:
    return ToolSpec(name=name, description=description, parameters={})


ADD, WEATHER = make("add"), make("weather")


def test_engine_scores_are_read() -> None:
    other = {"token": "no", "logprob": -2.0}
    written = {"token": "yes", "logprob": -0.1, "top_logprobs": [other]}
    assert read_tokens({"logprobs": {"content": [written]}}) == [Token("yes", (("no", -2.0),))]
    assert read_tokens({"delta": {}}) == []


@pytest.mark.parametrize(
    ("question", "fits"),
    [
        ("Do my files mention oak?", True),
        ("Read the NOTES aloud", True),
        ("Who wrote Hamlet?", False),
        ("Give me the name of your favourite colour", False),
    ],
)
def test_tool_may_fit_a_question_that_has_a_word_of_it(question: str, fits: bool) -> None:
    schema = {"properties": {"name": {"type": "string"}, "place": {"enum": ["notes"]}}}
    tool = ToolSpec(name="search_files", description="Find lines with a name.", parameters=schema)
    assert may_fit(question, tool) is fits


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


def test_question_does_not_contain_the_skill_that_says_how_to_answer() -> None:
    skill = "<skill name='brief'>\nFind facts first.\n</skill>"
    before = {"role": "user", "content": "What is 2 + 2?"}
    asked = {"role": "user", "content": f"{skill}\n/skill/brief Should we plant trees?"}
    assert find_question([before, asked]) == "Should we plant trees?"
    alone = {"role": "user", "content": f"{skill}\n/skill/brief"}
    assert find_question([before, alone]).startswith("<skill name='brief'> Find facts first.")


async def choose(message: str, leads: dict[str, float], odds: dict[str, float]) -> str | None:
    async def weigh(question: str, tool: ToolSpec) -> float:
        return odds.get(tool.name, -9.0)

    question = find_question([{"role": "user", "content": message}])
    ranked = [(make(name), lead) for name, lead in leads.items()]
    tool = await find_fitting(question, message, ranked, weigh)
    return None if tool is None else tool.name


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("Call find_facts: the price of a plane.", "find_facts"),
        ("Please use the tool `find_facts` for this.", "find_facts"),
        (
            "<skill name='brief'>\nTools for this skill: find_facts, researcher\n</skill>\nTrees?",
            "find_facts",
        ),
        ("Never use find_facts.", None),
        ("What does find_facts do?", None),
        ("The price of a plane.", None),
    ],
)
async def test_tool_that_the_message_wants_called_needs_less(message: str, expected: str | None) -> None:
    leads = {
        "one": 3.0,
        "two": 2.9,
        "three": 2.8,
        "find_facts": -4.0,
    }  # the last one of four
    assert await choose(message, leads, {"find_facts": NAMED_NEEDS + 0.1}) == expected


async def test_tool_that_is_asked_about_is_not_called_however_well_it_fits() -> None:
    assert await choose("What does the tool write_file do?", {"write_file": 4.0}, {"write_file": 4.0}) is None
    assert await choose("Write it with write_file.", {"write_file": 4.0}, {"write_file": 4.0}) == "write_file"


def test_tool_that_is_far_ahead_needs_less_than_another() -> None:
    assert find_need("Hello", ADD, FAR_AHEAD) == CHOSEN_NEEDS
    assert find_need("Hello", ADD, FAR_AHEAD - 0.1) == find_need("Hello", ADD) == OTHERS_NEED


def test_value_of_a_parameter_in_the_question_speaks_for_its_tool() -> None:
    schema = {"properties": {"item": {"enum": ["chisel", "band_saw"]}, "all": True}}
    tool = ToolSpec(name="count_stock", description="Count pieces.", parameters=schema)
    assert has_value("How many chisels do we have?", tool)
    assert not has_value("How many pieces do we have?", tool)
    assert not has_value("How many chisels do we have?", ADD)


def test_question_names_a_tool_that_clearly_leads() -> None:
    researcher, library = make("researcher"), make("search_library")
    assert is_named("Have the researcher compare the joints.", researcher, 5.0)
    assert not is_named("Have the researcher compare the joints.", researcher, 4.0)
    assert is_named("Search the library for oak.", library, 2.5)
    assert not is_named("Search the shelf for oak.", library, 9.0)
    assert not is_named("Get me a user.", make("get_user"), 9.0)


@pytest.mark.parametrize(
    ("question", "tool", "asks"),
    [
        ("Write a short packing list into packing.md.", "write_file", True),
        ("写一份清单保存到 packing.md", "write_file", True),
        ("Save it as notes.txt, please", "write_file", True),
        ("Explain setup.cfg", "read_file", True),
        ("Explain setup.cfg", "write_file", False),
        ("Write a haiku.", "write_file", False),
        ("Write to https://example.com/a.html", "write_file", False),
        ("Write 2.5 pages, e.g. about oak", "write_text", False),
    ],
)
def test_question_with_a_file_name_asks_for_the_tool_that_its_verb_means(
    question: str, tool: str, asks: bool
) -> None:
    assert asks_for_file(question, make(tool)) is asks
    assert is_named(question, make(tool), -2.0) is asks
    assert may_fit(question, make(tool)) or not asks


def test_long_description_is_cut() -> None:
    assert shorten("word " * 50) == "word " * 19 + "word…"
    assert shorten("The weather of\n a city.\n\nMore.") == "The weather of a city."


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
    assert find_need("Why?", tool, -4.0) == find_need("Why?", tool, 4.0) == LIBRARY_NEEDS


def test_documents_about_what_the_request_names_need_less() -> None:
    help_pages = make("search_help", "Search the help articles: delivery, returns, payment.")
    assert find_need("How long does a delivery take?", help_pages) == TOPIC_NEEDS
    assert find_need("How tall is a giraffe?", help_pages) == LIBRARY_NEEDS
    assert find_need("Search the help: how tall is a giraffe?", help_pages, 4.0) == NAMED_NEEDS


def test_word_that_a_called_tool_has_does_not_speak_for_the_next_one() -> None:
    show = make("show_order", "Show an order.")
    assert may_fit("Refund 10 euros of order 7.", show)
    refund = make("refund", "Pay money of an order back.")
    assert not may_fit("Refund 10 euros of order 7.", show, called=[refund])
    assert may_fit("Refund order 7 and write a letter.", make("letter_writer"), called=[refund])


def test_long_description_is_cut_after_a_sentence() -> None:
    first = "Find facts about street trees: costs, heat, storms, species, watering, plans."
    assert shorten(f"{first} Returns passages, each with its citation.") == first
    assert shorten("word " * 30) == ("word " * 20)[:99].rstrip() + "…"


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
