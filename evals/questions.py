"""Questions for the choice of a tool: one set to find wordings and margins with, and one held back.

Each set has six tools, and each question the tool that it needs, or none. Nothing in `src/` may be tuned on
`HELD_BACK`: it was written before the tuning and is only counted. Three of its tools and all of its questions
do not occur in `TUNING`.
"""

from dataclasses import dataclass
from typing import Any

from dovetail.events.call import ToolSpec


@dataclass(frozen=True, slots=True)
class QuestionSet:
    """Tools, and questions with the name of the tool that each one needs, or none."""

    name: str
    tools: tuple[ToolSpec, ...]
    questions: tuple[tuple[str, str | None], ...]


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
        ("What is 127 * 49?", "calculator"),
        ("Hello, who are you?", None),
        ("How warm is it in Paris right now?", "weather"),
        ("Show me what is in notes.txt", "read_file"),
        ("How do I change my password?", "search_docs"),
        ("Write a haiku about rain.", None),
        ("Which orders does Mrs Tanaka have?", "list_orders"),
        ("How much is 17% of 2350?", "calculator"),
        ("Do I need an umbrella in London today?", "weather"),
        ("Translate 'good morning' into French.", None),
        ("Remind me to call mum at six.", "add_reminder"),
        ("How can I export my data?", "search_docs"),
        ("What is the capital of Japan?", None),
        ("Which file formats can be imported?", "search_docs"),
        ("Thank you, that helped!", None),
        ("Is two-factor login supported?", "search_docs"),
        ("Divide 98765 by 43.", "calculator"),
        ("Summarise README.md", "read_file"),
        ("Explain recursion in one sentence.", None),
        ("北京今天天气怎么样", "weather"),
        ("What does the setting cache_size do?", "search_docs"),
        ("Give me three names for a cat.", None),
        ("What does main.py do?", "read_file"),
        ("Why do I get error E42 when I install it?", "search_docs"),
        ("Who wrote Hamlet?", None),
        ("Has customer 8812 bought anything?", "list_orders"),
        ("Wake me tomorrow at 7.", "add_reminder"),
        ("What is new in version 3?", "search_docs"),
        ("Write a Python function that reverses a list.", None),
        ("How many users are included in the free plan?", "search_docs"),
        ("Can I run the server behind a proxy?", "search_docs"),
        ("What can you do?", None),
        ("Who was the first person on the moon?", None),
        ("Don't let me forget the dentist on Friday at ten.", "add_reminder"),
        ("Where do I find the API key?", "search_docs"),
        ("What's 3.5 times 18, minus 4?", "calculator"),
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
        ("How do I reset the admin password?", "search_docs"),
        ("What is 48 times 52?", "calculator"),
        ("What's the temperature in Madrid?", "weather"),
        ("Write to anna@example.com that I will be late.", "send_email"),
        ("How many euros are 250 dollars?", "convert_currency"),
        ("What do I have on Thursday?", "list_events"),
        ("Good morning!", None),
        ("Which databases are supported?", "search_docs"),
        ("Who painted the Mona Lisa?", None),
        ("Is it raining in Hamburg?", "weather"),
        ("How can I turn off notifications?", "search_docs"),
        ("What's 15% of 640?", "calculator"),
        ("Write a short poem about the sea.", None),
        ("Am I free tomorrow afternoon?", "list_events"),
        ("What does the option --dry-run do?", "search_docs"),
        ("Change 80 pounds into yen.", "convert_currency"),
        ("How long are log files kept?", "search_docs"),
        ("Mail bob@example.com the agenda: budget, hiring, summer party.", "send_email"),
        ("Thanks a lot!", None),
        ("What is the boiling point of water in Celsius?", None),
        ("Add 1299, 349 and 78.", "calculator"),
        ("How do I install the plugin on Windows?", "search_docs"),
        ("Will I need a coat in Reykjavik today?", "weather"),
        ("Translate 'see you soon' into Spanish.", None),
        ("Where is the configuration file stored?", "search_docs"),
        ("When is my next meeting?", "list_events"),
        ("Write a SQL query that counts the rows of a table.", None),
        ("What is the limit for uploads?", "search_docs"),
        ("How much is 5000 rupees in euros?", "convert_currency"),
        ("Who are you?", None),
        ("Is there a way to undo a deployment?", "search_docs"),
        ("What is 2 to the power of 20?", "calculator"),
        ("Tell carol@example.com that the build is green.", "send_email"),
        ("Which planet is the largest?", None),
        ("How do I rotate the access tokens?", "search_docs"),
        ("How hot is it in Dubai at the moment?", "weather"),
        ("What's on my calendar today?", "list_events"),
        ("Explain what a hash table is.", None),
        ("Does the client retry failed requests?", "search_docs"),
        ("I bought 7 books at 12.50 each. What did I pay?", "calculator"),
        ("What would 1 bitcoin... no, 100 Swiss francs be in dollars?", "convert_currency"),
        ("What does error code 1017 mean?", "search_docs"),
        ("Tell me a joke.", None),
        ("How is the weather in 上海?", "weather"),
        ("Send dave@example.com a note that the invoice is paid.", "send_email"),
        ("How do I add a second user?", "search_docs"),
        ("In which year did the Berlin Wall fall?", None),
        ("Do I have appointments next Monday?", "list_events"),
        ("What's the difference between the basic and the pro plan?", "search_docs"),
        ("How many seconds are in 36 hours?", "calculator"),
        ("Is it windy in Chicago?", "weather"),
        ("Suggest a name for my bakery.", None),
        ("Which Python versions does the SDK need?", "search_docs"),
        ("What do 45 Canadian dollars cost in Mexican pesos?", "convert_currency"),
        ("Email the team at team@example.com: lunch is at one.", "send_email"),
        ("How do I enable dark mode?", "search_docs"),
        ("What is the square root of 2025?", "calculator"),
        ("Write a regular expression for a date.", None),
        ("What happens on Saturday in my calendar?", "list_events"),
        ("How do I back up the server?", "search_docs"),
    ),
)
assert len(HELD_BACK.questions) == 60
