from tests.model_server.fixtures import model_server, no_live_models, running_model_server

__all__ = ["model_server", "no_live_models", "running_model_server"]
