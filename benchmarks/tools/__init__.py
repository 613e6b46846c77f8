"""Cost of a loop of native tool calls: 20 calls in a row, compared with bare requests and other libraries."""
