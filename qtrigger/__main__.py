"""`python -m qtrigger`: the same as the console script."""

from qtrigger.cli.main import main

if __name__ == "__main__":
    main()
