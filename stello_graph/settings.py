"""Settings, read once at the composition root: from arguments, else `STELLO_*`, else the default."""

from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit, urlunsplit

import platformdirs
from pydantic import AliasChoices, Field, SecretStr, field_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

__all__ = ["Settings", "without_password"]


def _default_store() -> str:
    return f"sqlite:///{platformdirs.user_data_path('stello-graph') / 'stello.db'}"


class Settings(BaseSettings):
    """All settings. The description of each is what `doctor` and the documentation show."""

    model_config = SettingsConfigDict(
        env_prefix="STELLO_", env_ignore_empty=True, extra="forbid", populate_by_name=True
    )

    store: str = Field(
        default_factory=_default_store,
        description="Where everything is kept: sqlite:///file.db, neo4j://host:7687, bolt://…, neo4j+s://…",
    )
    neo4j_user: str | None = Field(
        default=None, description="User of the graph database; none: no authentication"
    )
    neo4j_password: SecretStr | None = Field(default=None, description="Password of the graph database")
    neo4j_database: str | None = Field(
        default=None, description="Name of the database; none: the server's default"
    )
    neo4j_pool_size: int = Field(default=50, ge=1, description="Connections to the graph database at most")

    sqlite_readers: int = Field(default=4, ge=1, description="Reads of a SQLite file that run side by side")

    host: str = Field(default="127.0.0.1", description="Address to listen on")
    port: int = Field(default=8000, ge=0, le=65535, description="Port to listen on; 0: any free one")
    workers: int = Field(default=1, ge=1, description="Processes that serve on the port")
    grace: float = Field(default=20.0, ge=0, description="Seconds that running turns are given at shutdown")
    migrate: bool = Field(default=True, description="Whether serve brings the schema up to date first")
    bootstrap_key: SecretStr | None = Field(
        default=None,
        description="An ADMIN key of the Space default, 32 characters at least, beside those that are stored",
    )
    key_seconds: float = Field(
        default=4.0,
        gt=0,
        description="How long a key that was looked up is trusted; revoking it is felt within twice that",
    )
    log_format: Literal["text", "json"] = Field(
        default="text", description="Form of the log lines: text, or json, one object a line"
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        default="info",
        description="debug, info, warning or error; debug has texts of exceptions, which may quote contents",
    )
    tracing: bool = Field(
        default=False, description="Spans by OpenTelemetry, told by OTEL_*; needs stello-graph[otel]"
    )
    allowed_origins: Annotated[tuple[str, ...], NoDecode] = Field(
        default=(), description="Origins of other front-ends, comma-separated: for CORS and WebSocket"
    )

    model_provider: Literal["anthropic", "openai", "offline"] | None = Field(
        default=None,
        description="anthropic, openai or offline; none: anthropic where it has a key, else offline",
    )
    model: str | None = Field(
        default=None, description="The model to ask where nobody names another; none: the provider's default"
    )
    anthropic_api_key: SecretStr | None = Field(
        default=None,
        validation_alias=AliasChoices("anthropic_api_key", "ANTHROPIC_API_KEY"),
        description="Key of Anthropic's API",
    )
    anthropic_base_url: str | None = Field(
        default=None,
        validation_alias=AliasChoices("anthropic_base_url", "ANTHROPIC_BASE_URL"),
        description="Another address of that API",
    )
    openai_api_key: SecretStr | None = Field(
        default=None,
        validation_alias=AliasChoices("openai_api_key", "OPENAI_API_KEY"),
        description="Key of OpenAI's API; a server at OPENAI_BASE_URL may need none",
    )
    openai_base_url: str | None = Field(
        default=None,
        validation_alias=AliasChoices("openai_base_url", "OPENAI_BASE_URL"),
        description="Address of another server that speaks it, such as http://localhost:8000/v1",
    )

    skills: Annotated[tuple[str, ...], NoDecode] = Field(
        default=(), description="Folders of skills (*/SKILL.md in each), comma-separated; in every Space"
    )

    lease_seconds: float = Field(
        default=20.0, gt=0, description="How long a turn's holder may be silent before the turn is closed"
    )
    renew_seconds: float = Field(
        default=2.0, gt=0, description="How often a running turn's text and lease are stored"
    )
    janitor_seconds: float = Field(
        default=5.0, gt=0, description="How often turns are looked for whose holder died"
    )
    follow_seconds: float = Field(
        default=0.5, gt=0, description="How often a turn of another process is looked at"
    )
    event_seconds: float = Field(
        default=0.25,
        gt=0,
        description="How often events of other processes are looked for, while somebody follows",
    )
    event_days: float = Field(
        default=30.0, ge=0, description="How long events are kept, in days; 0: for ever"
    )
    scheduler_seconds: float = Field(
        default=1.0, gt=0, description="How often background tasks are looked for that other processes left"
    )
    task_retry_seconds: float = Field(
        default=5.0,
        gt=0,
        description="Wait after a background task failed; doubled each time, up to 10 minutes",
    )
    max_tasks: int = Field(default=4, ge=1, description="Background tasks that run side by side")

    tools: Annotated[tuple[str, ...], NoDecode] = Field(
        default=(), description="Modules whose Tools the model can call, comma-separated"
    )
    agent_idle_seconds: float = Field(
        default=300.0, gt=0, description="How long what a Space works with is kept while nobody uses it"
    )
    tool_seconds: float = Field(default=300.0, gt=0, description="How long a tool may take")
    function_seconds: float = Field(
        default=300.0, gt=0, description="How long an application's own function or hook may take"
    )

    max_body_bytes: int = Field(default=2 * 1024 * 1024, gt=0, description="Size of a request's body at most")
    max_content_bytes: int = Field(
        default=1024 * 1024, gt=0, description="Size of a message, prompt or digest at most"
    )
    max_answer_bytes: int = Field(
        default=16 * 1024 * 1024,
        gt=0,
        description="Texts of an answer at most; of what is read for it, four times as much",
    )
    max_import_bytes: int = Field(default=1024**3, gt=0, description="Size of an import file at most")
    max_import_object_bytes: int = Field(
        default=32 * 1024**2, gt=0, description="Size of one conversation of an import over HTTP at most"
    )
    max_imports: int = Field(
        default=2, ge=1, description="Imports over HTTP of a Space that run at most at once, in a process"
    )
    max_query_depth: int = Field(
        default=15,
        ge=1,
        description="Levels of selections that an operation has at most; introspection aside",
    )
    max_query_aliases: int = Field(default=30, ge=0, description="Aliases of an operation at most")
    max_query_tokens: int = Field(default=2_000, ge=1, description="Tokens of a GraphQL document at most")
    max_query_cost: int = Field(
        default=50_000, ge=1, description="Nodes that an operation may ask for at most, by its pages' sizes"
    )
    max_page: int = Field(default=1_000, ge=1, le=1_000, description="Items of a page at most")
    max_subscriptions: int = Field(
        default=100, ge=1, description="Operations that a WebSocket has at most at once"
    )
    max_space_subscriptions: int = Field(
        default=1_000,
        ge=1,
        description="Subscriptions of a Space that are open at most, and likewise WebSockets, in a process",
    )
    max_turns: int = Field(
        default=32, ge=1, description="Turns of a Space that run at most at once, in a process"
    )
    rate_limit: int = Field(
        default=1_000,
        ge=1,
        description="Requests of a Space a second at most, in a process; where keys are in use",
    )
    keepalive_seconds: float = Field(
        default=15.0, gt=0, description="How often a silent event stream sends a comment"
    )
    max_deleted_sessions: int = Field(
        default=10_000, gt=0, description="Sessions that one delete takes at most"
    )

    @field_validator("allowed_origins", "skills", "tools", mode="before")
    @classmethod
    def _split(cls, value: Any) -> Any:
        return (
            tuple(part.strip() for part in value.split(",") if part.strip())
            if isinstance(value, str)
            else value
        )

    @field_validator("log_level", "log_format", mode="before")
    @classmethod
    def _lower(cls, value: Any) -> Any:
        return value.lower() if isinstance(value, str) else value

    @field_validator("bootstrap_key")
    @classmethod
    def _long_enough(cls, value: SecretStr | None) -> SecretStr | None:
        if value is not None and len(value.get_secret_value()) < 32:
            raise ValueError("STELLO_BOOTSTRAP_KEY needs 32 characters at least")
        return value

    @property
    def sqlite_path(self) -> Path | None:
        """The file of a `sqlite:` store, as in SQLAlchemy: three slashes relative, four absolute."""
        prefix = "sqlite:///"
        return Path(self.store[len(prefix) :]) if self.store.startswith(prefix) else None


def without_password(url: str) -> str:
    """A URL as it may be shown."""
    parts = urlsplit(url)
    _, at, host = parts.netloc.rpartition("@")
    return urlunsplit(parts._replace(netloc=f"***@{host}")) if at else url
