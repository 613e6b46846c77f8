"""The prompt library over HTTP: list, render, and follow the files."""

from pathlib import Path

from serving import serve

TRANSLATE = """
.about: {title: Translate, variables: {language: {default: English}, text: The text.}}
input: "Into ${language}: ${text}"
"""


async def test_prompts_are_listed_and_rendered(tmp_path: Path) -> None:
    folder = tmp_path / "prompts"
    folder.mkdir()
    (folder / "translate.yaml").write_text(TRANSLATE)
    (folder / "broken.yaml").write_text("input: [\n")
    async with serve(tmp_path) as server:
        listed = (await server.client.get("/api/v1/prompts")).json()
        assert "translate" in [prompt["name"] for prompt in listed["prompts"]]
        assert [(Path(each["path"]).name, each["line"]) for each in listed["errors"]] == [("broken.yaml", 2)]

        render = "/api/v1/prompts/translate/render"
        rendered = await server.client.post(render, json={"variables": {"text": "Guten Tag"}})
        assert rendered.json()["text"] == "Into English: Guten Tag"
        missing = await server.client.post(render, json={"variables": {"language": "French"}})
        assert missing.status_code == 422
        assert "needs a value for text" in missing.json()["error"]["message"]
        wrong = await server.client.post(render, json={"variables": {"text": ["x"]}})
        assert wrong.status_code == 422
        unknown = await server.client.post("/api/v1/prompts/translat/render", json={})
        assert unknown.status_code == 404
        assert "Did you mean 'translate'?" in unknown.json()["error"]["message"]


async def test_a_changed_prompt_is_used_after_a_reload(tmp_path: Path) -> None:
    folder = tmp_path / "prompts"
    folder.mkdir()
    async with serve(tmp_path) as server:
        (folder / "hello.yaml").write_text("input: Hello.\n")
        assert (await server.client.post("/api/v1/prompts/hello/render", json={})).status_code == 404
        report = (await server.client.post("/api/v1/extensions/reload")).json()
        assert report["prompts"] == {"failed": []}
        assert (await server.client.post("/api/v1/prompts/hello/render", json={})).json()["text"] == "Hello."
