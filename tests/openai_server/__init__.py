"""A strict local stand-in for the Chat Completions API, of OpenAI's own kind or of local servers'.

It refuses what the real ones refuse, with their statuses, error bodies and (nearly) their sentences.
`tests.openai_server.fixtures` is the pytest plugin.
"""

from tests.openai_server.answers import Answer, Refuse, use
from tests.openai_server.rules import Refusal, Rules, check
from tests.openai_server.server import OpenAIServer

__all__ = ["Answer", "OpenAIServer", "Refusal", "Refuse", "Rules", "check", "use"]
