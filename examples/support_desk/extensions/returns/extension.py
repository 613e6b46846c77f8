"""A return label that the user's browser saves as a file; `web/label.js` draws it."""

TOOL = {
    "label": "returns",
    "name": "save_return_label",
    "title": "Save a return label",
    "description": "Save the label with which a customer returns an order, as a file in the user's browser. "
    "Returns the name of the file.",
    "parameters": {
        "order": {"type": "string", "description": "The order number, such as A-1003", "required": True},
        "customer": {"type": "string", "description": "The name of the customer", "required": True},
    },
    "browser": True,
}
