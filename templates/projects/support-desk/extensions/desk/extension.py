"""Shows an order in the browser of the user; web/show_order.js carries the call out."""

TOOL = {
    "label": "desk",
    "name": "show_order",
    "title": "Show order",
    "description": "Show an order as a card in the page, if the user wants to see it.",
    "kind": "read",
    "parameters": {
        "number": {"type": "string", "description": "The number of the order", "required": True},
        "lines": {
            "type": "array",
            "items": {"type": "string"},
            "description": "What else to show",
        },
    },
    "browser": True,
}
