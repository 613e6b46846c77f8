"""The smallest extension folder: one function, one tool; `web/` brings its card for the page."""


def get_weather(city: str, unit: str = "c") -> str:
    """Return a made-up report, the same for every city."""
    unit = unit.lower().strip()
    if unit not in {"c", "f"}:
        return "unit must be 'c' or 'f'"
    degrees = 26 if unit == "c" else 79
    return f"{city} current temperature is {degrees}°{unit.upper()} (mock)."


TOOL = {
    "label": "weather",
    "name": "get_weather",
    "description": "Query current weather by city",
    "kind": "read",
    "parameters": {
        "city": {"type": "string", "description": "City name", "required": True},
        "unit": {"type": "string", "description": "Temperature unit: c or f", "default": "c"},
    },
    "execute": get_weather,
}
