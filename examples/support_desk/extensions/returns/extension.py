"""A return label that the user's browser saves as a file; `web/label.js` draws it."""

TOOL = {
    "label": "returns",
    "name": "save_return_label",
    "title": "Save a return label",
    "description": "Save the label for a parcel that comes back, if the clerk asks for a label. "
    "Returns the name of the file.",
    "parameters": {
        "order": {"type": "string", "description": "The order number, such as A-1003", "required": True},
        "customer": {"type": "string", "description": "The name of the customer", "required": True},
    },
    "browser": True,
}
