"""The how-tos that show what a model answers."""

from evals.reality.outcome import calls, either, is_data, is_text, never_calls, says
from evals.reality.shown.programs import WOODS
from evals.reality.visit import Question, Visit


def program(name: str, *questions: Question) -> Visit:
    """The Python blocks of a how-to."""
    return Visit(place=f"docs/howto/{name}.md", face="program", questions=questions)


def page(name: str, *questions: Question, seconds: float = 240) -> Visit:
    """A how-to with files and commands."""
    return Visit(place=f"docs/howto/{name}.md", face="page", questions=questions, seconds=seconds)


VISITS = [
    program(
        "agent-as-tool",
        Question(
            text="I want a bench for the garden.", checks=[calls("wood_expert"), says(WOODS), is_text(4)]
        ),
    ),
    program(
        "ask-the-user",
        Question(
            text="question", checks=[calls("order"), says(r"Which wood\?", r"How many\?", "ordered 2 x Oak")]
        ),
    ),
    program("cancel-a-run", Question(text="Dig a deep hole.", checks=[says("cancelled after 1 turn")])),
    program(
        "correct-wrong-answers",
        Question(
            text="A wood for floors", checks=[says(rf"name='[^']*(?:{WOODS})[^']*' hardness=(?:[1-9]|10)$")]
        ),
    ),
    program(
        "keep-a-chat",
        Question(text="I am Ann.", checks=[says("Ann"), is_text()]),
        Question(text="Who am I?", checks=[says("Ann", "4 messages")]),
    ),
    program(
        "limit-spending",
        Question(text="What does an oak board cost?", checks=[calls("search"), says("48"), is_text()]),
    ),
    program(
        "many-questions",
        Question(
            text="Ask many questions at once",
            checks=[
                is_data(
                    lambda data: (
                        set(data) == {"oak", "pine", "balsa"}
                        and "hard" in data["oak"].lower()
                        and all("soft" in data[wood].lower() for wood in ("pine", "balsa"))
                    )
                )
            ],
        ),
    ),
    program(
        "stream-a-field",
        Question(text="Which wood is good for a bench?", checks=[says(r"search for: \S", WOODS), is_text(8)]),
    ),
    program(
        "stream-from-fastapi",
        Question(
            text="A wood for {use}",
            checks=[is_data(lambda data: set(data) == {"name", "hardness"}), says(WOODS), is_text(4)],
        ),
    ),
    program(
        "tool-approval",
        Question(
            text="Write to Ann that her bench is ready.",
            checks=[calls("send_mail", text=".*bench.*"), says(r"May I call send_mail\? To .*ann", "Ann")],
        ),
    ),
    program(
        "typed-list",
        Question(
            text="Get a list of typed objects",
            checks=[says(r"oak boards?: 48\.00 per piece", r"glue: 6\.50 per pot")],
        ),
    ),
    program(
        "use-langchain-tools",
        Question(
            text="What does an oak board cost?", checks=[calls("find_price", wood="oak"), says("48", r"\n3$")]
        ),
    ),
    page(
        "answer-from-files",
        Question(
            text="How long must the glue dry?",
            checks=[
                either(calls("search_files"), calls("read_file")),
                is_data(lambda data: "welve" in data["answer"] or "12" in data["answer"]),
                says(r"notes/bench\.md"),
            ],
        ),
    ),
    page(
        "approve-over-http",
        Question(
            text="Write to Ann that it is ready.",
            checks=[says(r'"tool":"send_mail"', r'"to":"[^"]*ann', "ready")],
        ),
    ),
    page("back-up-the-store", Question(text="Hello", checks=[says(r"Backed up to copy\.db")])),
    page(
        "background-work",
        Question(
            text="Have the researcher find out how old oaks become.",
            checks=[
                calls("researcher"),
                says(r'"response":"[^"]{3,}"\n"response":"[^"]{3,}"', r"\d+|years|hundred"),
            ],
        ),
        seconds=400,
    ),
    page(
        "browser-tool",
        Question(text="What is the title?", checks=[says('"result":"resolved"'), calls("read_title")]),
    ),
    page(
        "call-the-http-api",
        Question(text="What is oak?", checks=[says('"response":"[^"]*oak', "wood|tree", '"reason":"goal"')]),
        Question(text="node ask.mjs", checks=[says("pine"), is_text()]),
    ),
    page(
        "load-a-prompt-from-yaml",
        Question(
            text="python review.py",
            checks=[is_data(lambda data: 1 <= data["score"] <= 10 and len(data["verdict"]) > 3)],
        ),
    ),
    page(
        "log-and-trace",
        Question(
            text="python traced.py 2>&1",
            checks=[calls("count", item="chisels?"), says("3|three", "span: invoke_agent shop")],
        ),
    ),
    page(
        "run-every-morning",
        Question(text="dovetail schedules run reporter.1", checks=[is_text(2, 150), never_calls("ask_user")]),
    ),
    page(
        "use-mcp-server",
        Question(text="python ask.py", checks=[calls("count", item="chisel"), says("3|three")]),
    ),
    page("use-openai-sdk", Question(text="python ask.py", checks=[says("master", "42")])),
]
NOT_ASKED = {
    (
        "docs/howto/send-an-image.md",
        "What is in this picture?",
    ): "the page says that embedded models read text only",
    ("docs/howto/two-workers-on-postgresql.md", "Hello"): "needs PostgreSQL, and only says hello",
}
