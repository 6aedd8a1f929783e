"""The service in an application whose lifespan knows nothing of it: the first request opens the store.

Run it in a folder of its own with `python examples/embed_lazily.py`, then open /ai/.
"""

import uvicorn
from starlette.applications import Starlette
from starlette.routing import Mount

from stello_graph import Settings, create_app

app = Starlette(routes=[Mount("/ai", create_app(Settings(store="sqlite:///lazy.db")))])

if __name__ == "__main__":
    uvicorn.run(app)
