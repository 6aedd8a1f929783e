class NotAvailable(Exception):
    """Something the tests need cannot be had; the message is a sentence for the person who runs them."""


class StartFailed(Exception):
    """A Neo4j did not start; the message ends with its log."""
