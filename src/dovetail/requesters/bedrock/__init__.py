"""Models on Amazon Bedrock, through its Converse API."""
