"""Shows an order in the browser of the user; web/show_order.js carries the call out."""

TOOL = {
    "label": "desk",
    "name": "show_order",
    "title": "Show order",
    "description": "Show an order to the user as a card in the page. Find the order first.",
    "kind": "read",
    "parameters": {
        "number": {"type": "string", "description": "The number of the order", "required": True},
        "lines": {
            "type": "array",
            "items": {"type": "string"},
            "description": "What to show",
            "required": True,
        },
    },
    "browser": True,
}
