"""The languages of the site, with the texts around its pages."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from dovetail.data.shapes import is_list, is_mapping


@dataclass(frozen=True, slots=True, kw_only=True)
class Language:
    """A language of the site."""

    code: str
    name: str
    folder: str = ""
    """Where its pages are below the site, with a slash at the end."""
    suffix: str = ""
    """What the names of its files have before the extension."""
    description: str
    untranslated: str = ""
    """Stands at the top of a page that exists in English only."""
    titles: Mapping[str, str] = field(default_factory=dict[str, str])
    """Translates the titles in docs/.nav.yml and zensical.toml."""

    def translate(self, value: Any) -> Any:
        """Return a part of the navigation or of the theme's settings with translated titles."""
        if is_list(value):
            return [self.translate(item) for item in value]
        if is_mapping(value):
            return {self.titles.get(key, key): self.translate(item) for key, item in value.items()}
        return self.titles.get(value, value) if isinstance(value, str) else value


ENGLISH = Language(
    code="en",
    name="English",
    description="Build, run and serve AI agents in Python, with typed answers that stream field by field.",
)

CHINESE = Language(
    code="zh",
    name="中文",
    folder="zh/",
    suffix=".zh",
    description="用 Python 构建、运行和提供 AI 智能体，回答带类型、逐个字段流式到达。",
    untranslated='!!! note ""\n\n    本页暂无中文版，以下为英文原文。\n',
    titles={
        "Home": "首页",
        "First hour": "第一个小时",
        "Concepts": "概念",
        "How-to": "操作指南",
        "Guides": "使用手册",
        "Programs": "编写程序",
        "Models": "模型",
        "Services": "服务",
        "Clients": "客户端",
        "More": "更多",
        "Reference": "参考",
        "Python API": "Python API",
        "Operations": "运维",
        "Compare": "对比",
        "Migration": "迁移",
        "Project": "项目",
        "Decisions": "设计决策",
        "Switch to light mode": "切换到浅色模式",
        "Switch to dark mode": "切换到深色模式",
        "Switch to the system's mode": "跟随系统设置",
    },
)

LANGUAGES = (ENGLISH, CHINESE)
