"""Run it with: pytest extensions/my_tool"""

from dovetail.testing import call_folder_tool


def test_it_greets() -> None:
    """Calls the folder's tool as a model would; with several tools, name one before the arguments."""
    assert call_folder_tool(__file__, who="Ada", times=2) == "Hello, Ada! Hello, Ada!"
