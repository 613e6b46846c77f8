"""`python -m documentation build`, `serve PORT` or `reference`."""

import sys

from documentation.build import BuildError, build_site, serve_site
from documentation.reference import pages
from documentation.stage import ROOT

try:
    match sys.argv[1:]:
        case ["build"]:
            print(f"Built {(build_site() / 'index.html').relative_to(ROOT)}; open it in a browser.")
        case ["serve", port]:
            serve_site(int(port))
        case ["reference"]:
            for page in pages.write_all():
                print(f"Wrote {page.relative_to(ROOT)}.")
        case _:
            sys.exit(__doc__)
except BuildError as error:
    sys.exit(str(error))
