"""Texts that errors share."""

from dovetail.data.text import cut, did_you_mean, expected_one_of, explain_choices, explain_unknown


def test_long_text_is_cut_and_marked() -> None:
    assert [cut("abc", most) for most in (2, 3, 4)] == ["ab…", "abc", "abc"]


def test_unknown_name_is_explained_by_the_nearest_names() -> None:
    assert explain_unknown("tool", "ad", ["add", "find"]) == "Unknown tool 'ad'. Did you mean 'add'?"
    assert did_you_mean("colour", ["color", "colours"]) == "Did you mean 'colours' or 'color'?"


def test_unknown_name_without_a_near_one_lists_all() -> None:
    assert (
        explain_unknown("tool", "zzz", ["add", "find"]) == "Unknown tool 'zzz'. Expected one of: add, find."
    )
    assert explain_unknown("tool", "zzz", []) == "Unknown tool 'zzz'. None are available."
    assert did_you_mean("zzz", ["add"]) == ""


def test_fixed_choices_are_always_listed() -> None:
    assert explain_choices("mode", "plans", ("plan", "auto")) == (
        "Unknown mode 'plans'. Expected one of: plan, auto."
    )


def test_long_lists_of_names_and_huge_values_are_cut() -> None:
    assert expected_one_of(f"t{number}" for number in range(30)).endswith("t19, ….")
    assert len(explain_unknown("tool", "x" * 100_000, ["add"])) < 300
