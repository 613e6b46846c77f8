"""What a loop of native tool calls costs: 20 calls in a row, beside bare requests and other libraries."""
