"""The tools of this folder, called as a model would call them."""

import re
from pathlib import Path

import pytest

from dovetail.errors import ToolError
from dovetail.testing import call_folder_tool

FOLDER = Path(__file__).parent


@pytest.mark.parametrize(
    ("question", "file", "fact"),
    [
        ("How much does planting a street tree cost?", "costs.md", "2,900 euros"),
        ("How much cooler is a street with trees?", "heat-report.md", "3.7 degrees"),
        ("Which species survived best in the trial?", "species-trial.md", "field elm 20 of 20"),
        ("What did the council decide about new street trees?", "council-2024.md", "400 street trees a year"),
        ("What do residents complain about?", "residents.md", "leaves on the pavement"),
        ("How many trees fell in the storm?", "storm.md", "212 street trees"),
    ],
)
def test_the_passage_with_the_answer_is_found(question: str, file: str, fact: str) -> None:
    found = call_folder_tool(__file__, "find_facts", question=question)
    assert any(fact in passage["text"] and file in passage["citation"] for passage in found)


def test_every_citation_leads_to_a_document() -> None:
    listed = call_folder_tool(__file__, "list_library")
    links = [re.fullmatch(r"\[\[(\d+)\]\]\(/ext/library/current/(.+)\)", each["citation"]) for each in listed]
    assert [link and link[1] for link in links] == [str(number) for number in range(1, len(listed) + 1)]
    assert all(link and (FOLDER / "web" / link[2]).is_file() for link in links)


def test_a_search_without_a_result_says_so() -> None:
    with pytest.raises(ToolError, match="Nothing in the library fits"):
        call_folder_tool(__file__, "find_facts", question="quarks")
