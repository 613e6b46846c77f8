"""Everything an MCP server may answer is kept, for models and for programs."""

from mcp.types import (
    AudioContent,
    BlobResourceContents,
    CallToolResult,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
    TextResourceContents,
)

from dovetail.tools.mcp.answers import read_mcp_result


def test_texts_are_joined_and_structured_content_is_the_data() -> None:
    answer = CallToolResult(
        content=[TextContent(type="text", text="one"), TextContent(type="text", text="two")],
        structured_content={"count": 2},
    )
    result = read_mcp_result(answer)
    assert (result.llm_content, result.data) == ("one\ntwo", {"count": 2})
    assert read_mcp_result(CallToolResult(content=[])).llm_content == "(no output)"


def test_resources_links_images_and_sounds_are_described_and_kept() -> None:
    text = TextResourceContents(uri="file:///plan.txt", mime_type="text/plain", text="cut here")
    blob = BlobResourceContents(uri="file:///plan.bin", mime_type="application/x-plan", blob="AAAA")
    answer = CallToolResult(
        content=[
            EmbeddedResource(type="resource", resource=text),
            EmbeddedResource(type="resource", resource=blob),
            ResourceLink(type="resource_link", uri="file:///shed", name="shed", description="all of it"),
            AudioContent(type="audio", data="AAAAAAAA", mime_type="audio/wav"),
            ImageContent(type="image", data="AAAA", mime_type="image/png"),
        ]
    )
    result = read_mcp_result(answer)
    assert result.llm_content == [
        {"type": "text", "text": "[resource file:///plan.txt]\ncut here"},
        {"type": "text", "text": "[resource file:///plan.bin, application/x-plan, 3 bytes]"},
        {"type": "text", "text": "[resource file:///shed: shed: all of it]"},
        {"type": "text", "text": "[audio, audio/wav, 6 bytes]"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
    ]
    assert [block["type"] for block in result.data] == [
        "resource",
        "resource",
        "resource_link",
        "audio",
        "image",
    ]
    assert result.data[3]["data"] == "AAAAAAAA"
