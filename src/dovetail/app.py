"""The composition root: settings in; registries, extension folders, agents, store and engine out.

Making an app starts nothing. `async with` reads the workspace, and releases everything at its end.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from contextlib import AsyncExitStack, suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar, Unpack

from dovetail.agent.agent import Agent
from dovetail.agent.base import FirstWords
from dovetail.agent.runtime import Runtime, default_runtime
from dovetail.agents import catalog
from dovetail.agents.registry import AgentRegistry
from dovetail.assets import find_assets
from dovetail.data.private_folder import STATE_FOLDER, settle_private
from dovetail.errors import ConfigError
from dovetail.lazy import lazy
from dovetail.policy.bus import MessageBus
from dovetail.policy.policy import Policy
from dovetail.policy.remembered import open_policy
from dovetail.settings import ProviderKeys, Settings, find_workspace, open_settings
from dovetail.settings.limits import LimitSettings
from dovetail.settings.sections import ExtensionSettings, McpSettings, ScheduleSettings, StoreSettings
from dovetail.tools.ask_user import ask_user
from dovetail.tools.mcp.settings import ConfiguredServers
from dovetail.tools.registry import ToolRegistry

if TYPE_CHECKING:
    from dovetail import skills as skill_folders
    from dovetail.extensions import loader as loading
    from dovetail.extensions import watch as watching
    from dovetail.extensions.extension import ExtensionSnapshot
    from dovetail.extensions.loader import ExtensionLoader
    from dovetail.prompts import library as prompt_files
    from dovetail.runs.service import Runs
    from dovetail.runs.workers import ProcessRole
    from dovetail.schedules import service as scheduling
    from dovetail.sessions import chat as chatting
    from dovetail.sessions.chat import Chat
    from dovetail.sessions.store import SessionStore
    from dovetail.skills.library import SkillLibrary, SkillRoot
else:
    watching = lazy("dovetail.extensions.watch")
    loading = lazy("dovetail.extensions.loader")
    skill_folders = lazy("dovetail.skills")
    prompt_files = lazy("dovetail.prompts.library")
    chatting = lazy("dovetail.sessions.chat", extra="server")
    scheduling = lazy("dovetail.schedules.service", extra="server")

logger = logging.getLogger(__name__)

T = TypeVar("T")


class Dovetail:
    """One app: its settings, tools, agents and skills, in one workspace folder.

    >>> app = Dovetail(workspace="shop")
    >>> app.create_agent(system="You are brief.").input("A wood?").start()
    'Oak.'
    """

    def __init__(
        self,
        settings: Settings | Mapping[str, Any] | None = None,
        *,
        workspace: str | Path | None = None,
        runtime: Runtime | None = None,
    ) -> None:
        self.workspace = find_workspace(workspace)
        self.runtime = runtime or Runtime(
            open_settings(settings, self.workspace), make_policy=self._make_policy
        )
        self.agents = AgentRegistry(settings=self.runtime.settings)
        self.agents.on_trusted = self._follow_trust
        self._offered = self._find_offered()
        self.tools.refresh_with(self._offer_agents)
        self.is_watching = False
        self._following: set[asyncio.Task[object]] = set()
        self._exits = AsyncExitStack()
        self._chat: Chat | None = None
        self._schedules: scheduling.Schedules | None = None
        self._skills: SkillLibrary | None = None

    def __repr__(self) -> str:
        return f"Dovetail(workspace={str(self.workspace)!r})"

    @property
    def project(self) -> Path:
        """The folder a chat works in: the current one if it is in the workspace, otherwise the workspace."""
        here = Path.cwd()
        return here if here.is_relative_to(self.workspace) else self.workspace

    @property
    def settings(self) -> Settings:
        """The settings that all agents of this app inherit."""
        return self.runtime.settings

    @property
    def tools(self) -> ToolRegistry:
        """All tools of this app."""
        return self.runtime.tools

    @property
    def bus(self) -> MessageBus:
        """The message bus: notices, asks and answers."""
        return self.runtime.bus

    @cached_property
    def extensions(self) -> "ExtensionLoader":
        """The extension folders: those of the workspace first, then those that ship with the package."""
        return self.open_loader(*self._folders("extensions"), reserved=self.list_reserved_names)

    def open_loader(self, *roots: Path, **choices: Any) -> "ExtensionLoader":
        """Return a loader of extension folders with this app's workspace and settings."""
        return loading.ExtensionLoader(
            *roots,
            workspace=self.workspace,
            host=loading.ExtensionHost(list_agents=catalog.list_agent_names, settings=self.settings),
            time_limit=self.settings.section(ExtensionSettings).import_limit or loading.DEFAULT_LIMIT,
            **choices,
        )

    @cached_property
    def mcp(self) -> ConfiguredServers:
        """The MCP servers that the settings name."""
        return ConfiguredServers(self.tools, settle_private(self.workspace, "logins"))

    @property
    def skills(self) -> "SkillLibrary":
        """The skills of the workspace and of extension folders."""
        if self._skills is None:
            self._skills = skill_folders.SkillLibrary(self._skill_roots())
        return self._skills

    @cached_property
    def prompts(self) -> "prompt_files.PromptLibrary":
        """The prompt files of the workspace, and those that ship with the package."""
        return prompt_files.PromptLibrary(self._folders("prompts"))

    def create_agent(
        self, name: str | None = None, *, model: Any = None, **first: Unpack[FirstWords]
    ) -> Agent:
        """Return a fluent agent with this app's settings, tools and models."""
        return Agent(name, model=model, runtime=self.runtime, **first)

    @property
    def chat(self) -> "Chat":
        """Sends messages and returns answers; available after `open_chat`."""
        if self._chat is None:
            raise ConfigError("The chat is not open.", hint="Await `app.open_chat()` first.")
        return self._chat

    @property
    def sessions(self) -> "SessionStore":
        """The conversations; available after `open_chat`."""
        return self.chat.sessions

    @property
    def runs(self) -> "Runs":
        """The runs; available after `open_chat`."""
        return self.chat.runs

    @property
    def schedules(self) -> "scheduling.Schedules":
        """The schedules of runs; available after `open_schedules`."""
        if self._schedules is None:
            raise ConfigError("The schedules are not open.", hint="Await `app.open_schedules()` first.")
        return self._schedules

    @property
    def store_url(self) -> str | Path:
        """The database of sessions and runs: the setting `store.url`, otherwise a file in the workspace."""
        return self.settings.section(StoreSettings).url or self.workspace / STATE_FOLDER / "dovetail.db"

    async def open_chat(self, *, works: bool = True, role: "ProcessRole" = "program") -> "Chat":
        """Open the database, once, until the app is left; without `works`, runs are only sent to workers."""
        if self._chat is None:
            opening = chatting.open_chat(self, self.store_url, works=works, role=role)
            self._chat = await self._exits.enter_async_context(opening)
            self._exits.callback(setattr, self, "_chat", None)
            self.runs.on_reload = self._follow_reload
        return self.chat

    async def open_schedules(self, *, ticks: bool = False) -> "scheduling.Schedules":
        """Open the schedules, once, and store those of agent files; with `ticks`, start runs when due."""
        if self._schedules is None:
            chat = await self.open_chat()
            self._schedules = scheduling.Schedules(self, chat)
            self._exits.callback(setattr, self, "_schedules", None)
            await self._follow_files()
            if ticks and self.runs.works and self.settings.section(ScheduleSettings).enabled:
                await self._exits.enter_async_context(self.schedules.ticking())
        return self.schedules

    async def _follow_files(self) -> None:
        """Store the schedules of agent files as they are now."""
        if self._schedules is not None:
            owner = self.settings.section(ScheduleSettings).owner
            await self._schedules.synchronize(self.agents.get_all_definitions(), owner=owner)

    async def open_book(self) -> None:
        """Share what each day has spent with other processes, if a day is limited and no chat is open."""
        own = [definition.run_config for definition in self.agents.get_all_definitions()]
        limits_own = any((run.max_cost_per_day, run.max_calls_per_day) != (None, None) for run in own)
        if self._chat is None and (limits_own or self.settings.section(LimitSettings).limit_days):
            await self._exits.enter_async_context(chatting.open_book(self, self.store_url))

    def get_tool_registry(self) -> ToolRegistry:
        """Return all tools of this app, registered agents included (rule S50)."""
        return self.tools

    def get_agent_registry(self) -> AgentRegistry:
        """Return all agents of this app (rule S51)."""
        return self.agents

    async def reload(self) -> "ExtensionSnapshot":
        """Read all folders again, in processes that share the database too; runs keep what they have.

        The others begin at the same time, so that a slow import takes its time once.
        """
        if self._chat is not None:
            self._chat.runs.link.announce("reload", "")
        return await self._read_folders()

    async def _read_folders(self) -> "ExtensionSnapshot":
        snapshot = await self.extensions.reload()
        # Nothing is awaited from here on: names move from one owner to another before any run looks.
        self.tools.publish("agents", [])
        self.tools.publish("skills", [])
        self.tools.publish("extension folders", snapshot.tools)
        own, *shipped = self._folders("agents")
        self.agents.replace_files([own, *snapshot.agent_folders, *shipped])
        self.tools.snapshot()  # offers the agents
        self.skills.reload(self._skill_roots())
        loaders = [skill_folders.make_load_skill(self.skills)] if self.skills.list() else []
        self.tools.publish("skills", loaders)
        self.prompts.reload()
        self.runtime.policy.reload()
        ProviderKeys.of(self.settings, self.workspace).read()
        await self.mcp.connect(self.settings.section(McpSettings).servers)
        for notice in catalog.list_rule_problems(self, self.list_reserved_names()):
            logger.warning("policy rule may have no effect: %s", notice)
        for notice in catalog.list_tool_problems(self, snapshot.missing_extensions):
            logger.warning("an agent names a tool that does not exist: %s", notice)
        await self._follow_files()
        if self._chat is not None:
            self.runs.feed.report_generation(snapshot.version)
        return snapshot

    def _offer_agents(self) -> None:
        """Make the agents tools again if agents or settings have changed."""
        if (wanted := self._find_offered()) != self._offered:
            self._offered = wanted
            catalog.publish_agents(self)

    def _find_offered(self) -> tuple[int, Any]:
        """Everything that decides which agents are tools."""
        return self.agents.revision, self.settings.compute(catalog.read_offer)

    async def watch(self, on_reload: "Callable[[ExtensionSnapshot], object]" = lambda snapshot: None) -> None:
        """Reload whenever a watched file changes, until cancelled; `on_reload` is called after each.

        An edit is taken up while a slow import of an earlier one is still in progress.
        """

        async def follow() -> None:
            if (snapshot := await take_over(self.reload)) is not None:
                on_reload(snapshot)

        self.is_watching = True
        try:
            async with asyncio.TaskGroup() as reloads:
                async for _ in watching.watch(self.list_watched()):
                    reloads.create_task(follow())
        finally:
            self.is_watching = False

    def _follow_trust(self) -> None:
        """Store the schedules of agent files that were trusted since; outside of a loop, a reload does."""
        with suppress(RuntimeError):
            asyncio.get_running_loop()
            self._follow(take_over(self._follow_files))

    def _follow_reload(self) -> None:
        """Reload because another process has."""
        self._follow(take_over(self._read_folders))

    def _follow(self, work: "Coroutine[Any, Any, object]") -> None:
        task = asyncio.create_task(work)
        self._following.add(task)
        task.add_done_callback(self._following.discard)

    async def __aenter__(self) -> Self:
        self.tools.register_tool(self.runtime.runner.reader)
        self.tools.register_tool(ask_user)
        async with AsyncExitStack() as exits:
            exits.push_async_callback(self.extensions.close)
            exits.push_async_callback(self.mcp.close)
            await self.reload()
            await self._exits.enter_async_context(exits.pop_all())
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        await self._exits.aclose()

    def _folders(self, name: str) -> list[Path]:
        """Return the folders of one kind, the workspace's first."""
        shipped = find_assets(name)
        return [self.workspace / name, *([shipped] if shipped else [])]

    def _skill_roots(self) -> "list[SkillRoot]":
        return skill_folders.find_roots(
            self.workspace, self.project, extensions=self.extensions.snapshot.skill_roots
        )

    def list_watched(self) -> list[Path]:
        """Return the folders and files whose changes lead to a reload."""
        roots = skill_folders.find_roots(self.workspace, self.project)
        skills = [root.path / place for root in roots for place in ("skills", ".dovetail/skills")]
        own = [*skills, self.workspace / "policy.toml"]
        return [*self._folders("extensions"), *self._folders("agents"), *self._folders("prompts"), *own]

    def _make_policy(self) -> Policy:
        return open_policy(self.workspace, lambda: self.extensions.snapshot.policy_files)

    def list_reserved_names(self) -> Mapping[str, str]:
        """Return the names that tools of extension folders may not have, with their owners."""
        return catalog.reserve_names(self, self._folders("agents"))


async def take_over(reload: Callable[[], Awaitable[T]]) -> T | None:
    """Reload while other work continues: a failure is logged, and the last good state stays in service."""
    try:
        return await reload()
    except Exception:
        logger.exception("reload failed; the last good state stays in service")
        return None


_default: Dovetail | None = None


def default_app() -> Dovetail:
    """Return the app that `create_agent` and `set_settings` use; it is made at its first use."""
    global _default
    if _default is None:
        _default = Dovetail(runtime=default_runtime())
    return _default


def create_agent(name: str | None = None) -> Agent:
    """Return a fluent agent of the default app.

    >>> create_agent("clerk").input("A wood?").start()
    'Oak.'
    """
    return default_app().create_agent(name)


def set_settings(key: str, value: Any) -> None:
    """Set a setting for all agents of the default app.

    >>> set_settings("response.max_retries", 1)
    """
    default_app().settings.set(key, value)
