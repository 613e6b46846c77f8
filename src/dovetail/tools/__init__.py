"""One joint for whatever an agent can do: tools, their registry, and the pipeline that calls them."""
