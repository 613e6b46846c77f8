# A file that does not exist is noticed where it is attached.
from pathlib import Path

from dovetail import Agent
from dovetail.errors import ConfigError

for attachment in (Path("cat.png"), {"type": "image"}, b"\0\1"):
    try:
        Agent().input("What is it?").attachment(attachment)
    except ConfigError as error:
        print(error.message)

# Output:
# Cannot read the attachment 'cat.png': No such file or directory.
# Cannot attach {'type': 'image'}: it has no `data`, a `url` or a `path`.
# Cannot tell the media type of the attachment "b'\\x00\\x01'".
