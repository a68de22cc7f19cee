"""`python -m crumple` is `crumple`."""

from crumple.cli import main

if __name__ == "__main__":
    main()
