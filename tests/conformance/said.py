"""What a project says when it is loaded, in short."""

from __future__ import annotations

from qtrigger.project.model import Project


def said(project: Project) -> list[str]:
    """Every finding in full, as `qtrigger check` writes it."""
    return [str(problem) for problem in project.problems]


def told(project: Project, *words: str) -> str:
    """The one finding that holds all the words."""
    (found,) = [line for line in said(project) if all(word in line for word in words)]
    return found
