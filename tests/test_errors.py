"""The error tree and the names by which clients know its classes."""

from dovetail.data.text import report_error
from dovetail.errors import DovetailError, ModelError, PassingModelError, TransientModelError


def test_a_renamed_error_keeps_its_wire_type() -> None:
    assert report_error(TransientModelError("busy", provider="x"))["type"] == "passing_model_error"
    assert PassingModelError is TransientModelError


def test_an_error_is_known_by_the_name_of_its_class() -> None:
    class FlatTyreError(TransientModelError):
        pass

    assert (DovetailError.wire_name, ModelError.wire_name) == ("DovetailError", "ModelError")
    assert FlatTyreError.wire_name == "FlatTyreError"
