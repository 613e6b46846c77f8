"""Calls the tools as a model would: through validation, rules and limits, with only this folder loaded."""

import pytest

from dovetail.errors import ToolError
from dovetail.testing import call_folder_tool


def test_the_best_source_comes_first_with_the_line_that_matches() -> None:
    found = call_folder_tool(__file__, "search_library", words="pulled apart")
    assert found[0]["source"] == "dovetail-joint"
    assert "pulled apart" in found[0]["line"]
    assert "pulled apart" in call_folder_tool(__file__, "search_library", words="joint")[0]["line"]


def test_sources_that_share_only_a_common_word_are_left_out() -> None:
    found = call_folder_tool(__file__, "search_library", words="which joint cannot be pulled apart")
    assert [each["source"] for each in found] == ["dovetail-joint"]
    assert call_folder_tool(__file__, "search_library", words="varnish") == []


def test_a_search_without_words_lists_all_sources() -> None:
    names = [each["source"] for each in call_folder_tool(__file__, "search_library")]
    assert names == ["dovetail-joint", "finger-joint", "mortise-and-tenon"]


def test_a_source_is_read_and_an_unknown_one_explained() -> None:
    assert call_folder_tool(__file__, "read_source", source="finger-joint").startswith("# Finger joint")
    with pytest.raises(ToolError, match="Expected one of: dovetail-joint"):
        call_folder_tool(__file__, "read_source", source="../extension")
