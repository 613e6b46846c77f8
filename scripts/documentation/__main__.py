"""`python -m documentation build` or `serve [PORT]`."""

import sys

from documentation.build import BuildError, build_site, serve_site
from documentation.stage import ROOT

try:
    match sys.argv[1:]:
        case ["build"]:
            print(f"Built {(build_site() / 'index.html').relative_to(ROOT)}; open it in a browser.")
        case ["serve", port]:
            serve_site(int(port))
        case _:
            sys.exit(__doc__)
except BuildError as error:
    sys.exit(str(error))
