"""All settings: one class per section, one attribute per key, with its type, default and description.

`dovetail settings` prints what is written here, and `make settings-page` writes docs/settings.md from it.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, TypeAlias

from dovetail.settings.agents import AgentSettings
from dovetail.settings.limits import LimitSettings
from dovetail.settings.model import ModelSettings
from dovetail.settings.section import NOTHING, Section
from dovetail.settings.value import Count, Limit, Names, Rule, Seconds, Secret, Table, ToolNames

Mode: TypeAlias = Literal["plan", "default", "auto", "yolo"]
Theme: TypeAlias = Literal["auto", "dark", "light", "plain"]
"""How freely an agent may act."""


class ServerSettings(Section, key="server"):
    """The HTTP server."""

    admin_token: Secret | None = None
    """Required as the header `x-admin-token` for what needs the admin, such as a reload.

    If unset, local requests may do it, unless there are API keys.
    """

    api_keys: Secret | None = None
    """API keys as comma-separated `name:key` pairs; a key may be written as `name:sha256:<hex>`."""

    cors_origins: Names = ()
    """Origins of other sites whose pages may use the server, as `https://app.example`; `*` needs API keys."""

    frame_ancestors: Names = ("none",)
    """Origins of sites that may show the page in a frame, as `https://app.example`; or `self`, or `none`."""

    rate_limit: Count | None = 600
    """Requests per minute and caller; 0 disables the limit. Does not apply to a local server without keys."""

    trusted_proxies: Names = ("127.0.0.1", "::1")
    """Addresses and networks of proxies whose `X-Forwarded-For` and `X-Forwarded-Proto` are trusted."""

    web: str | None = None
    """A folder with a page of your own to serve; a relative path starts in the workspace."""

    log_format: Literal["text", "json"] = "text"
    """The format of log lines."""

    log_level: Literal["debug", "info", "warning", "error"] = "info"
    """The lowest level that is logged."""


LOCAL_OWNER = "local"
"""The owner of everything on a server without API keys, and of what the command line does."""


class StoreSettings(Section, key="store"):
    """The database of sessions and runs."""

    url: Secret | None = None
    """`postgresql://user:password@host/name` or `sqlite:///path`; by default a file in the workspace."""


class RunSettings(Section, key="runs"):
    """Which processes work on runs, and how many runs at once."""

    engine: Literal["local", "dbos", "temporal"] = "local"
    """Who takes up a run: the process that it was sent to, or workers of DBOS or Temporal."""

    queues: Names = ("default",)
    """The queues that this process works on; an agent's runs wait in its `queue`."""

    concurrency: Count | None = 100
    """The most runs of one queue at once in one process; `dbos` and `temporal` only."""

    total_concurrency: Count | None = None
    """The most runs of one queue at once in all processes; `dbos` only."""

    owner_concurrency: Count | None = None
    """The most runs of one owner at once in one queue; `dbos` only."""

    starts_per_minute: Count | None = None
    """The most runs of one queue that start within a minute; `dbos` only."""

    park_after: Seconds | None = 60.0
    """Seconds after which a run that only waits for answers leaves memory; an answer brings it back."""

    stall_after: Seconds = 1.0
    """Seconds after which a tool that blocks the event loop is reported; 0 switches that off."""

    takeover: Limit | None = 15.0
    """Seconds within which others take over the runs of a process that stands still but has not died."""

    dbos_url: Secret | None = None
    """The database of DBOS; by default that of `store.url`."""

    temporal_address: str = "127.0.0.1:7233"
    """The address of the Temporal server, as `host:port`."""

    temporal_namespace: str = "default"
    """The namespace on the Temporal server."""

    temporal_api_key: Secret | None = None
    """The API key of Temporal Cloud; with a key, the connection is encrypted."""


class ScheduleSettings(Section, key="schedules"):
    """Runs that start by themselves."""

    enabled: bool = True
    """Whether this process starts runs when they are due."""

    owner: str = LOCAL_OWNER
    """The owner of schedules in agent files that name none: the name of an API key, if keys are used."""


class PolicySettings(Section, key="policy"):
    """Which calls run without asking; the rules themselves are in `policy.toml`."""

    mode: Mode = "default"
    """The mode of all runs, unless a run asks for another one."""

    max_mode: Mode = "auto"
    """The freest mode that a client may ask for; with `default` each of its edits needs approval."""


class ToolSettings(Section, key="tools"):
    """The tools that agents use."""

    strategy: Literal["judge", "native", "auto"] = "judge"
    """How `Agent` uses tools: a judging request, native function calls, or `native` if the model can."""

    max_rounds: Count = 1
    """How often `Agent` may call tools in one request."""

    allowed: ToolNames | None = None
    """If set, only these tools and agents are available."""

    excluded: ToolNames = ()
    """Tools that are not available."""


class SubagentSettings(Section, key="subagents"):
    """Agents as tools of other agents."""

    enabled: bool = True
    """Whether agents are tools."""

    shape: Literal["auto", "tools", "dispatcher"] = "auto"
    """One tool for each agent, one tool for all, or one for all if there are more than twelve agents."""

    max_depth: Count | None = 3
    """Levels of agents below a run; 0 for none."""

    max_children: Count | None = 50
    """Agents that one run may call."""

    max_subagents: Count | None = 200
    """Agents below one run at all depths."""


class McpServerSettings(Section, is_open=True):
    """One MCP server. `${NAME}` stands for an environment variable. Keys of other programs are ignored."""

    command: str = ""
    """The program to start."""

    args: Sequence[str] = ()
    """The program's arguments."""

    env: Mapping[str, Secret] = NOTHING
    """The program's further environment variables."""

    cwd: str | None = None
    """The folder that the program starts in."""

    url: Secret = ""
    """The address of a server that is reached over HTTP."""

    headers: Mapping[str, Secret] = NOTHING
    """HTTP headers of every request."""

    allow: Sequence[str] = ("*",)
    """Globs of the tools that are used."""

    exclude: Sequence[str] = ()
    """Globs of the tools that are not used."""

    time_limit: Limit | None = 120.0
    """Seconds that one call may take."""

    trusted: bool = False
    """Whether the server's hints count, e.g. that a tool only reads; otherwise each call needs approval."""

    enabled: bool = True
    """Whether the server is used; false keeps its entry without connecting."""


class McpSettings(Section, key="mcp"):
    """MCP servers whose tools agents use."""

    servers: Annotated[Any, Rule("a table of servers by name")] = NOTHING
    """The servers by name. One with a wrong entry is left out and reported."""


class ExtensionSettings(Section, key="extensions", is_open=True):
    """Extension folders. A table `[extensions.<folder>]` holds the folder's own settings, which
    `dovetail ext show <folder>` lists."""

    import_limit: Limit | None = None
    """Seconds that the import of a folder, and its `setup()`, may take; 10 by default."""


class BusSettings(Section, key="bus"):
    """The message bus."""

    enabled: bool = True
    """Whether agents publish messages and ask over the bus."""


class RuntimeSettings(Section, key="runtime"):
    """What is shown and recorded of requests."""

    show_tool_logs: bool = False
    """Whether `Agent` prints its tool calls to stderr."""

    show_model_logs: bool = False
    """Accepted for compatibility; has no effect."""

    record_requests: bool = True
    """Whether runs record the messages sent to models, for the inspector."""


class ResponseSettings(Section, key="response"):
    """How answers are read."""

    streaming_parse_path_style: Literal["dot", "slash"] = "dot"
    """How the paths of field events are written: `a.b[0]` or `/a/b/0`."""

    max_retries: Count = 3
    """How often an answer is asked for again if it lacks keys that it must have."""

    timeout: Seconds | None = None
    """Seconds for the whole answer."""


class PromptSettings(Section, key="prompt"):
    """How prompts are rendered."""

    role_mapping: Annotated[Any, Rule("a table of role names")] = {  # noqa: RUF012 - a section is frozen
        "system": "system",
        "developer": "developer",
        "assistant": "assistant",
        "user": "user",
        "_": "assistant",
    }
    """The names of roles; `_` is used for all others."""

    prompt_title_mapping: Annotated[Any, Rule("a table of titles")] = {  # noqa: RUF012 - a section is frozen
        "system": "SYSTEM",
        "developer": "DEVELOPER DIRECTIONS",
        "chat_history": "CHAT HISTORY",
        "info": "INFO",
        "tools": "TOOLS",
        "action_results": "ACTION RESULTS",
        "instruct": "INSTRUCT",
        "examples": "EXAMPLES",
        "input": "INPUT",
        "output": "OUTPUT",
        "output_requirement": "OUTPUT REQUIREMENT",
    }
    """The titles of a prompt's blocks, by slot."""

    resolve_type_names: bool = False
    """Whether names of types written as text, such as `int`, count as types."""


class ChatSessionSettings(Section, key="chat_session"):
    """Chat sessions of `Agent`."""

    token_budget: Count | None = None
    """Tokens of history that are sent; the oldest turns are left out first."""


class TerminalSettings(Section, key="terminal"):
    """`dovetail chat` in the terminal."""

    theme: Theme = "auto"
    """The colours: those of the terminal, some for a dark or a light background, or none."""


class AllSettings(Section):
    """Every section and key."""

    model: ModelSettings = ModelSettings()
    server: ServerSettings = ServerSettings()
    store: StoreSettings = StoreSettings()
    runs: RunSettings = RunSettings()
    schedules: ScheduleSettings = ScheduleSettings()
    policy: PolicySettings = PolicySettings()
    tools: ToolSettings = ToolSettings()
    subagents: SubagentSettings = SubagentSettings()
    limits: LimitSettings = LimitSettings()
    agents: Table = NOTHING
    """Changes to agents by name. A wrong entry leaves the agent out and is reported."""
    mcp: McpSettings = McpSettings()
    extensions: ExtensionSettings = ExtensionSettings()
    bus: BusSettings = BusSettings()
    runtime: RuntimeSettings = RuntimeSettings()
    response: ResponseSettings = ResponseSettings()
    prompt: PromptSettings = PromptSettings()
    chat_session: ChatSessionSettings = ChatSessionSettings()
    terminal: TerminalSettings = TerminalSettings()
    record_input_paths: Any = None
    """The parts of a request that a chat session records; by default all of it."""
    record_output_paths: Any = None
    """The parts of an answer that a chat session records; by default all of it."""
    record_input_mode: Literal["first", "all"] | None = None
    """Whether the first part of a request is recorded, or all."""
    record_output_mode: Literal["first", "all"] | None = None
    """Whether the first part of an answer is recorded, or all."""


ENTRIES: Mapping[str, type[Section]] = {"mcp.servers": McpServerSettings, "agents": AgentSettings}
"""Tables whose entries are checked one by one where they are used, so that a wrong one spoils no other."""

DEFAULTS: dict[str, Any] = AllSettings().to_dict()
