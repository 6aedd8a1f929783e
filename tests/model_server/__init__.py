"""A strict local stand-in for Anthropic's Messages API.

It refuses what the real one refuses, with its statuses, error bodies and (nearly) its sentences, so that a
test which passes here would have passed there. `tests.model_server.fixtures` is the pytest plugin;
`python -m tests.model_server --port N` serves for trials by hand.
"""

from tests.model_server.answers import Answer, Refuse, redacted, say, think, use
from tests.model_server.rules import Refusal, Rules, check
from tests.model_server.server import ModelServer

__all__ = ["Answer", "ModelServer", "Refusal", "Refuse", "Rules", "check", "redacted", "say", "think", "use"]
