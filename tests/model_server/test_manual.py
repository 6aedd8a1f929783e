"""The server as a process of its own."""

import subprocess
import sys
from pathlib import Path

import httpx

ROOT = Path(__file__).parents[2]


def test_standalone() -> None:
    command = [sys.executable, "-m", "tests.model_server", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stdout is not None
        try:
            url = process.stdout.readline().split()[0].removeprefix("ANTHROPIC_BASE_URL=")
            body = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "hello"}]}
            headers = {"x-api-key": "test", "anthropic-version": "2026-10-21"}
            transport = httpx.HTTPTransport(retries=5)
            with httpx.Client(transport=transport, timeout=10) as client:
                answer = client.post(f"{url}/v1/messages", json=body, headers=headers).json()
            assert answer["content"][0]["text"].startswith("You said: hello\n\n(1 messages, 0 tools")
        finally:
            process.terminate()
