"""The HTTP server as an ASGI app: routes, middleware and the page."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import TypeAlias

from fastapi import APIRouter, FastAPI
from starlette.routing import Route

from dovetail.agents.background import offer_background
from dovetail.agents.prepare import warm_up
from dovetail.app import Dovetail
from dovetail.assets import find_assets
from dovetail.requesters.model_status import ModelStatus
from dovetail.server import auth
from dovetail.server.auth import AccessLayer, parse_api_keys
from dovetail.server.errors import add_error_handlers
from dovetail.server.metrics import Metrics, RunMetrics, is_shared
from dovetail.server.middleware.body_limit import BodyLimit
from dovetail.server.middleware.clean_input import CleanInput
from dovetail.server.middleware.compress import Compression
from dovetail.server.middleware.cors import add_cross_origin, check_origins
from dovetail.server.middleware.observe import ObserveLayer
from dovetail.server.middleware.rate_limit import RateLimit
from dovetail.server.middleware.security import SecurityHeaders
from dovetail.server.openapi import DescribedApi
from dovetail.server.responses import JsonResponse
from dovetail.server.routes import (
    artifacts,
    asks,
    catalog,
    chat,
    completions,
    feed,
    folders,
    frames,
    health,
    imports,
    looks,
    models,
    policy,
    prompts,
    runs,
    schedules,
    servers,
    sessions,
    shares,
    sources,
    usage,
)
from dovetail.server.routes.page import check_page, make_page_router
from dovetail.settings.sections import ServerSettings
from dovetail.tools.makers.browser import open_url
from dovetail.version import __version__

_ROUTERS = [
    module.router
    for module in (
        health,
        chat,
        runs,
        artifacts,
        asks,
        feed,
        policy,
        imports,
        sessions,
        folders,
        shares,
        frames,
        sources,
        schedules,
        catalog,
        servers,
        models,
        looks,
        prompts,
        usage,
        completions,
        auth,
    )
]
Alongside: TypeAlias = Callable[[], AbstractAsyncContextManager[object]]


def register_page_tools(app: Dovetail) -> None:
    """Register the tools that act in a browser tab."""
    app.tools.register_tool(open_url)


def create_app(
    app: Dovetail,
    *,
    web: Path | None = None,
    is_open: bool = False,
    alongside: Alongside = nullcontext,
    routers: Sequence[APIRouter] = (),
    works: bool = True,
) -> FastAPI:
    """Return the server of `app`, which it opens when it starts and closes when it stops.

    `web` is the folder of the page, by default the one in the settings or the shipped one; `is_open` accepts
    other machines without API keys; `alongside` is entered with the app, for work in the background;
    `routers` are matched before the page, which takes every path that is left; without `works` all runs are
    left to workers.
    """

    @asynccontextmanager
    async def lifespan(api: FastAPI) -> AsyncGenerator[None]:
        try:
            async with app, alongside():
                await app.open_chat(works=works, role="web")
                run_metrics.follow(app.runs)
                await app.chat.recover()
                await app.open_schedules(ticks=True)
                api.state.is_ready = True
                background = [asyncio.create_task(warm_up(app, equip=partial(offer_background, host=app)))]
                if is_shared():
                    background.append(asyncio.create_task(run_metrics.keep_sampling()))
                yield
                api.state.is_ready = False
                for task in background:
                    task.cancel()
                await api.state.models.stop_pull()
        except Exception as error:
            api.state.failure = error
            raise

    metrics = Metrics()
    run_metrics = RunMetrics(app, metrics)
    api = DescribedApi(
        title="Dovetail",
        version=__version__,
        lifespan=lifespan,
        default_response_class=JsonResponse,
        docs_url=None,
        redoc_url=None,
        telemetry={"tracing": False, "operation_spans": False, "logs": False},  # `ObserveLayer` does this
    )
    api.state.dovetail = app
    api.state.models = ModelStatus(app.settings)
    api.state.is_ready = False
    api.state.failure = None
    api.state.metrics = metrics
    api.state.run_metrics = run_metrics
    add_error_handlers(api)
    served = (*_ROUTERS, *routers)
    for router in served:
        api.include_router(router)
    api.state.interface = [route for router in served for route in router.routes if isinstance(route, Route)]
    settings = app.settings.section(ServerSettings)
    if web is None and settings.web:
        web = app.workspace / settings.web
    api.include_router(make_page_router(find_assets("web") if web is None else check_page(web)))
    api.state.keys = parse_api_keys(settings.api_keys or "")
    _add_layers(api, settings, metrics, is_open=is_open)
    return api


def _add_layers(api: FastAPI, settings: ServerSettings, metrics: Metrics, *, is_open: bool) -> None:
    """Add the middleware that every request passes, the innermost first."""
    keys = api.state.keys
    origins = check_origins(settings.cors_origins, has_keys=bool(keys))
    api.add_middleware(Compression)
    api.add_middleware(CleanInput)
    api.add_middleware(BodyLimit)
    if settings.rate_limit and (keys or is_open):  # a single local user has no limit
        api.add_middleware(RateLimit, per_minute=settings.rate_limit, by_address=not keys)
    api.add_middleware(
        AccessLayer,
        keys=keys,
        is_open=is_open,
        origins=origins,
        has_admin_token=bool(settings.admin_token),
    )
    add_cross_origin(api, origins)
    api.add_middleware(ObserveLayer, metrics=metrics)
    api.add_middleware(SecurityHeaders, frame_ancestors=settings.frame_ancestors)
