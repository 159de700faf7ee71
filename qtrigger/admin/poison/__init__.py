"""Poisoned messages over HTTP: what stands in the project's poison queues, and what is done to it.

Only poison queues of the project's own functions can be reached, never another of the account.
"""
