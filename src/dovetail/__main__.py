"""`python -m dovetail` is the `dovetail` command."""

from dovetail.cli.main import main

if __name__ == "__main__":
    main()
