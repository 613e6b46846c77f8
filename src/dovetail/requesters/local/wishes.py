"""What a message asks for besides its subject, by its words: a form, a skill, a tool, who the model is.

A small model follows one short instruction at the end of its prompt better than many before the question. So
these words decide which one it reads, and no request has to be judged for it.
"""

import re

_SKILL = re.compile(r"<skill\b.*?</skill>|<skill\b[^>]*/>", re.DOTALL)
_SKILL_NAME = re.compile(r"<skill name=[\"']([^\"']+)")
_MENTION = re.compile(r"(?<![\w./:\\-])/skill/([\w.-]+)")
_SKILL_TOOLS = re.compile(r"^Tools for this skill: (.+)$", re.MULTILINE)
_COUNT = r"(\d+|an?|one|two|three|four|five|six|seven|eight|nine|ten|few)"
_LENGTH = r"(words?|sentences?|lines?|points?|bullets?|paragraphs?|steps?|columns?|rows?)"
_SHAPE = r"(table|list|poem|haiku|letter|limerick|slogan|summary|story|outline)"
_FORM = re.compile(
    rf"\b(in|into|as|of|with|most|than) {_COUNT} (\w+ )?{_LENGTH}\b|\b(in|into|as) an? ([\w-]+ )?{_SHAPE}\b|"
    rf"\b(write|make|draw|create|compose|give me) an? ([\w-]+ )?{_SHAPE}\b|"
    r"\b(in|as) (json|csv|yaml|html|markdown|bullets|bullet points)\b|\bmarkdown (table|list)\b|"
    r"\b(one|each) (per|on (a|its own|one)) line\b|\bnothing else\b|\bonly the (number|word|name|answer)\b|"
    r"表格|列表|[一二两三四五六七八九十\d][个]?(句|字|点|行|段|条)",
    re.IGNORECASE,
)
_WHO = re.compile(
    r"\bwho (are|made|created|built|trained|developed|owns) you\b|"
    r"\b(what|which) company (made|created|built|trained|developed|owns) you\b|"
    r"\bwhat('s| is) your name\b|\bwhat are you\b|\bwhere are you from\b|"
    r"\bare you (\w+ )?(chatgpt|gpt|openai|claude|gemini|qwen|llama|ai|bot|robot|model|human|person)\b|"
    r"\b(what|which) (\w+ )?(model|ai|llm) (are you|do you|is this|am i)\b|"
    r"你是谁|你叫什么|你是(什么|哪|不是|由).{0,8}(模型|公司|机器人|人|ai)|"
    r"谁.{0,2}(创造|开发|制造|训练|发明)了?你|哪家公司.{0,4}你",
    re.IGNORECASE,
)
_TOOLS = re.compile(
    r"\byour tools\b|\btools (do|can|are) you\b|\btools available\b|\bwhat can you do\b|"
    r"你.{0,6}工具|你(能|会|可以)(做|干)?什么",
    re.IGNORECASE,
)


def remove_skills(text: str) -> str:
    """Return a message without the skills, which say how to answer; a skill alone is what is asked."""
    return _MENTION.sub("", _SKILL.sub("", text)).strip() or text


def find_skills(text: str) -> list[tuple[str, str]]:
    """Return the skills that a message contains, by name."""
    return [(name, skill) for skill in _SKILL.findall(text) for name in _SKILL_NAME.findall(skill)[:1]]


def find_mentions(text: str) -> list[str]:
    """Return the names of the skills that a message names, such as `/skill/brief`."""
    return [name.rstrip(".-_") for name in _MENTION.findall(text)]


def has_skill(text: str) -> bool:
    """Return whether a message contains or names a skill."""
    return _SKILL.search(text) is not None or _MENTION.search(text) is not None


def is_skill(result: str) -> bool:
    """Return whether the result of a tool is a skill."""
    return result.startswith("<skill ")


def wants_form(text: str) -> bool:
    """Return whether a message asks for more or less than sentences, or follows a skill.

    >>> wants_form("Show both in a Markdown table."), wants_form("Do we have an oak table in stock?")
    (True, False)
    """
    return has_skill(text) or _FORM.search(text) is not None


def asks_who(text: str) -> bool:
    """Return whether a message asks who the model is, or who made it."""
    return _WHO.search(text) is not None


def asks_for_tools(text: str) -> bool:
    """Return whether a message asks which tools the model has.

    >>> asks_for_tools("Which tools do you have?"), asks_for_tools("Which tools do I need to hang a picture?")
    (True, False)
    """
    return _TOOLS.search(remove_skills(text)) is not None


def names_tool(text: str, name: str) -> bool:
    """Return whether a message wants this tool called: it says so, or its skill lists the tool.

    >>> names_tool("Call find_facts: storms", "find_facts"), names_tool("Never use find_facts.", "find_facts")
    (True, False)
    """
    tool = rf"`?{re.escape(name)}(?!\w)"
    listed = any(re.search(rf"(?<!\w){tool}", line) for line in _SKILL_TOOLS.findall(text))
    wanted = (
        rf"(?i)(?<!not )(?<!n't )(?<!never )(\b(call|use|run)\s+(the\s+)?(tool\s+)?|(调用|使用)\s*){tool}"
    )
    if listed or asks_about_tool(text, name):
        return listed
    return re.search(wanted, remove_skills(text)) is not None


def asks_about_tool(text: str, name: str) -> bool:
    """Return whether a message asks what a tool is or does, so that it should not be called.

    A name of one plain word may mean something else.

    >>> asks_about_tool("What does the tool write_file do?", "write_file")
    True
    >>> asks_about_tool("What is in my files?", "files")
    False
    """
    asks = r"(?i)^\W*(what|how|why|when|who|which|explain|describe|tell me about)\b"
    asked = re.search(rf"{asks}.*(?<!\w){re.escape(name)}(?!\w)", remove_skills(text))
    return "_" in name and asked is not None
