"""`python -m tests.model_server --port N`: a model to try things with, without a key."""

import argparse

from tests.model_server.manual import by_hand
from tests.model_server.server import ModelServer


def main() -> None:
    """Serves until interrupted."""
    parser = argparse.ArgumentParser(description="A strict local stand-in for Anthropic's Messages API.")
    parser.add_argument("--port", type=int, default=8899)
    parser.add_argument("--key", default="test")
    parser.add_argument("--window", type=int, default=200_000, help="tokens, by the server's own count")
    options = parser.parse_args()
    server = ModelServer(api_key=options.key, port=options.port)
    server.respond = by_hand
    server.rules.window = options.window
    print(f"ANTHROPIC_BASE_URL={server.url} ANTHROPIC_API_KEY={options.key}", flush=True)
    server.run()


if __name__ == "__main__":
    main()
