"""Everything that is shown to a newcomer, with the checks of the answers."""

from evals.reality.shown import examples, programs, projects, recipes, suggestions

VISITS = [
    *programs.VISITS,
    *projects.VISITS,
    *suggestions.VISITS,
    *examples.VISITS,
    *recipes.VISITS,
]
NOT_ASKED = {
    ("src/dovetail/cli/commands/chat.py", "Hello"): "a hint for who sends nothing; the tours ask a greeting",
    **recipes.NOT_ASKED,
    **suggestions.NOT_ASKED,
}
"""Places and questions that `local:good` is not asked, with the reason."""
