"""Default settings that the specification names."""

from dovetail.settings import default_settings


def test_default_settings_of_prompts_and_responses() -> None:
    settings = default_settings()
    assert settings.get("prompt.role_mapping") == {
        "system": "system",
        "developer": "developer",
        "assistant": "assistant",
        "user": "user",
        "_": "assistant",
    }
    assert settings.get("prompt.prompt_title_mapping") == {
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
    assert settings.get("response.streaming_parse_path_style") == "dot"
    assert settings.get("runtime.show_tool_logs") is False
    assert settings.get("runtime.show_model_logs") is False
