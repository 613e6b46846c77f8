"""Questions for calls of a tool: one set to find wordings and margins with, and one held back.

Each set has six tools, and each question the call that it needs, or none. Nothing in `src/` may be tuned on
`HELD_BACK`: it was written before the tuning and is only counted. Three of its tools and all of its questions
do not occur in `TUNING`.
"""

import ast
import math
import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from dovetail.events.call import ToolSpec

_OPERATORS: dict[type[ast.AST], Callable[..., Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
    ast.USub: operator.neg,
}


@dataclass(frozen=True, slots=True)
class Question:
    """A question with the tool that it needs, if any, and what the arguments must be.

    A text is a pattern to search for in an argument, whatever its case; a number is the value of an argument,
    or of the arithmetic expression in it.
    """

    text: str
    tool: str | None
    arguments: Mapping[str, str | float]

    def check(self, name: str | None, arguments: Mapping[str, Any]) -> bool:
        """Return whether a call is right, or rightly none was made."""
        if name != self.tool:
            return False
        return all(_agrees(arguments.get(key), wanted) for key, wanted in self.arguments.items())


def _agrees(value: Any, wanted: str | float) -> bool:
    if isinstance(wanted, str):
        return re.search(wanted, str(value), re.IGNORECASE | re.DOTALL) is not None
    return math.isclose(work_out(str(value)), wanted, rel_tol=1e-6)


def work_out(expression: str) -> float:
    """Return the value of an arithmetic expression as calculators read it; NaN if it is something else."""
    expression = re.sub(r"(?i)% of", "/100*", expression).replace("%", "/100")
    for sign, meant in {"^": "**", "\N{MULTIPLICATION SIGN}": "*", "÷": "/", "math.": ""}.items():
        expression = expression.replace(sign, meant)
    expression = re.sub(r"√\(?([\d.]+)\)?", r"sqrt(\1)", expression)
    try:
        return _evaluate(ast.parse(expression.strip(), mode="eval").body)
    except (SyntaxError, ArithmeticError, KeyError, TypeError, ValueError):
        return math.nan


def _evaluate(node: ast.AST) -> float:
    match node:
        case ast.Constant(value=int() | float() as value):
            return value
        case ast.UnaryOp(op=sign, operand=inner):
            return _OPERATORS[type(sign)](_evaluate(inner))
        case ast.BinOp(left=left, op=sign, right=right):
            return _OPERATORS[type(sign)](_evaluate(left), _evaluate(right))
        case ast.Call(func=ast.Name(id="sqrt"), args=[inner]):
            return math.sqrt(_evaluate(inner))
        case _:
            raise ValueError(ast.dump(node))


@dataclass(frozen=True, slots=True)
class QuestionSet:
    """Tools, and questions about them."""

    name: str
    tools: tuple[ToolSpec, ...]
    questions: tuple[Question, ...]


def ask(question: str, tool: str | None = None, /, **arguments: str | float) -> Question:
    """Return a question; without a tool, the answer needs none."""
    return Question(question, tool, arguments)


def make_tool(name: str, description: str, **properties: Any) -> ToolSpec:
    """Return a tool; its parameters are required unless they have a default."""
    required = [key for key, schema in properties.items() if "default" not in schema]
    parameters = {"type": "object", "properties": properties, "required": required}
    return ToolSpec(name=name, description=description, parameters=parameters)


TEXT = {"type": "string"}
NUMBER = {"type": "number"}
CALCULATOR = make_tool("calculator", "Work out an arithmetic expression.", expression=TEXT)
WEATHER = make_tool("weather", "The weather of a city right now.", city=TEXT)
READ_FILE = make_tool("read_file", "Read a file of the user's project, by its path.", path=TEXT)

TUNING = QuestionSet(
    "tuning",
    (
        CALCULATOR,
        WEATHER,
        READ_FILE,
        make_tool("search_docs", "Search the documentation of our product.", query=TEXT),
        make_tool("add_reminder", "Remind the user of something at a time.", text=TEXT, time=TEXT),
        make_tool("list_orders", "List the orders of a customer.", customer=TEXT),
    ),
    (
        ask("What is 127 * 49?", "calculator", expression=6223),
        ask("Hello, who are you?"),
        ask("How warm is it in Paris right now?", "weather", city="paris"),
        ask("Show me what is in notes.txt", "read_file", path="notes.txt$"),
        ask("How do I change my password?", "search_docs", query="password"),
        ask("Write a haiku about rain."),
        ask("Which orders does Mrs Tanaka have?", "list_orders", customer="tanaka"),
        ask("How much is 17% of 2350?", "calculator", expression=399.5),
        ask("Do I need an umbrella in London today?", "weather", city="london"),
        ask("Translate 'good morning' into French."),
        ask("Remind me to call mum at six.", "add_reminder", text="mum", time="six|6|18"),
        ask("How can I export my data?", "search_docs", query="export"),
        ask("What is the capital of Japan?"),
        ask("Which file formats can be imported?", "search_docs", query="format|import"),
        ask("Thank you, that helped!"),
        ask("Is two-factor login supported?", "search_docs", query="two-factor|2fa"),
        ask("Divide 98765 by 43.", "calculator", expression=2296.8604651162791),
        ask("Summarise README.md", "read_file", path="readme.md$"),
        ask("Explain recursion in one sentence."),
        ask("北京今天天气怎么样", "weather", city="北京|beijing"),
        ask("What does the setting cache_size do?", "search_docs", query="cache_size"),
        ask("Give me three names for a cat."),
        ask("What does main.py do?", "read_file", path="main.py$"),
        ask("Why do I get error E42 when I install it?", "search_docs", query="E42"),
        ask("Who wrote Hamlet?"),
        ask("Has customer 8812 bought anything?", "list_orders", customer="8812"),
        ask("Wake me tomorrow at 7.", "add_reminder", text=".", time="7"),
        ask("What is new in version 3?", "search_docs", query="version 3|new"),
        ask("Write a Python function that reverses a list."),
        ask("How many users are included in the free plan?", "search_docs", query="free plan|users"),
        ask("Can I run the server behind a proxy?", "search_docs", query="proxy"),
        ask("What can you do?"),
        ask("Who was the first person on the moon?"),
        ask(
            "Don't let me forget the dentist on Friday at ten.",
            "add_reminder",
            text="dentist",
            time="friday.*(ten|10)|(ten|10).*friday",
        ),
        ask("Where do I find the API key?", "search_docs", query="api key"),
        ask("What's 3.5 times 18, minus 4?", "calculator", expression=59),
    ),
)

HELD_BACK = QuestionSet(
    "held-back",
    (
        make_tool("search_docs", "Search the documentation for a question.", query=TEXT),
        CALCULATOR,
        WEATHER,
        make_tool("send_email", "Send an email.", to=TEXT, subject=TEXT, body=TEXT),
        make_tool(
            "convert_currency", "Convert money at today's rate.", amount=NUMBER, source=TEXT, target=TEXT
        ),
        make_tool("list_events", "List the events in the user's calendar.", day=TEXT),
    ),
    (
        ask("How do I reset the admin password?", "search_docs", query="password"),
        ask("What is 48 times 52?", "calculator", expression=2496),
        ask("What's the temperature in Madrid?", "weather", city="madrid"),
        ask(
            "Write to anna@example.com that I will be late.",
            "send_email",
            to="^anna@example.com$",
            body="late",
        ),
        ask(
            "How many euros are 250 dollars?",
            "convert_currency",
            amount=250,
            source="usd|dollar",
            target="eur",
        ),
        ask("What do I have on Thursday?", "list_events", day="thursday"),
        ask("Good morning!"),
        ask("Which databases are supported?", "search_docs", query="database"),
        ask("Who painted the Mona Lisa?"),
        ask("Is it raining in Hamburg?", "weather", city="hamburg"),
        ask("How can I turn off notifications?", "search_docs", query="notification"),
        ask("What's 15% of 640?", "calculator", expression=96),
        ask("Write a short poem about the sea."),
        ask("Am I free tomorrow afternoon?", "list_events", day="tomorrow"),
        ask("What does the option --dry-run do?", "search_docs", query="dry-run"),
        ask(
            "Change 80 pounds into yen.", "convert_currency", amount=80, source="gbp|pound", target="jpy|yen"
        ),
        ask("How long are log files kept?", "search_docs", query="log"),
        ask(
            "Mail bob@example.com the agenda: budget, hiring, summer party.",
            "send_email",
            to="^bob@example.com$",
            body="budget.*hiring.*summer party",
        ),
        ask("Thanks a lot!"),
        ask("What is the boiling point of water in Celsius?"),
        ask("Add 1299, 349 and 78.", "calculator", expression=1726),
        ask("How do I install the plugin on Windows?", "search_docs", query="plugin"),
        ask("Will I need a coat in Reykjavik today?", "weather", city="reykjav"),
        ask("Translate 'see you soon' into Spanish."),
        ask("Where is the configuration file stored?", "search_docs", query="configuration"),
        ask("When is my next meeting?", "list_events", day="."),
        ask("Write a SQL query that counts the rows of a table."),
        ask("What is the limit for uploads?", "search_docs", query="upload"),
        ask(
            "How much is 5000 rupees in euros?",
            "convert_currency",
            amount=5000,
            source="inr|rupee",
            target="eur",
        ),
        ask("Who are you?"),
        ask("Is there a way to undo a deployment?", "search_docs", query="deployment"),
        ask("What is 2 to the power of 20?", "calculator", expression=1048576),
        ask(
            "Tell carol@example.com that the build is green.",
            "send_email",
            to="^carol@example.com$",
            body="green",
        ),
        ask("Which planet is the largest?"),
        ask("How do I rotate the access tokens?", "search_docs", query="token"),
        ask("How hot is it in Dubai at the moment?", "weather", city="dubai"),
        ask("What's on my calendar today?", "list_events", day="today"),
        ask("Explain what a hash table is."),
        ask("Does the client retry failed requests?", "search_docs", query="retry|retries|failed"),
        ask("I bought 7 books at 12.50 each. What did I pay?", "calculator", expression=87.5),
        ask(
            "What would 1 bitcoin... no, 100 Swiss francs be in dollars?",
            "convert_currency",
            amount=100,
            source="chf|franc",
            target="usd|dollar",
        ),
        ask("What does error code 1017 mean?", "search_docs", query="1017"),
        ask("Tell me a joke."),
        ask("How is the weather in 上海?", "weather", city="上海|shanghai"),
        ask(
            "Send dave@example.com a note that the invoice is paid.",
            "send_email",
            to="^dave@example.com$",
            body="invoice",
        ),
        ask("How do I add a second user?", "search_docs", query="user"),
        ask("In which year did the Berlin Wall fall?"),
        ask("Do I have appointments next Monday?", "list_events", day="monday"),
        ask("What's the difference between the basic and the pro plan?", "search_docs", query="pro"),
        ask("How many seconds are in 36 hours?", "calculator", expression=129600),
        ask("Is it windy in Chicago?", "weather", city="chicago"),
        ask("Suggest a name for my bakery."),
        ask("Which Python versions does the SDK need?", "search_docs", query="python"),
        ask(
            "What do 45 Canadian dollars cost in Mexican pesos?",
            "convert_currency",
            amount=45,
            source="cad|canad",
            target="mxn|mexican|peso",
        ),
        ask(
            "Email the team at team@example.com: lunch is at one.",
            "send_email",
            to="^team@example.com$",
            body="lunch",
        ),
        ask("How do I enable dark mode?", "search_docs", query="dark mode"),
        ask("What is the square root of 2025?", "calculator", expression=45),
        ask("Write a regular expression for a date."),
        ask("What happens on Saturday in my calendar?", "list_events", day="saturday"),
        ask("How do I back up the server?", "search_docs", query="back ?-?up"),
    ),
)
assert len(HELD_BACK.questions) == 60
