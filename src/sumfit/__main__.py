"""``python -m sumfit`` is the command line."""

from sumfit.cli import main

if __name__ == "__main__":
    main()
