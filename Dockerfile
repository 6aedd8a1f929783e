# syntax=docker/dockerfile:1

FROM python:3.13-slim AS build
WORKDIR /src
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1
COPY requirements/run.txt requirements/build.txt requirements/
RUN python -m venv /opt/stello-graph \
 && /opt/stello-graph/bin/pip install --require-hashes -r requirements/run.txt \
 && pip install --require-hashes -r requirements/build.txt
COPY pyproject.toml README.md LICENSE schema.graphql ./
COPY cypher cypher
COPY sql sql
COPY web web
COPY stello_graph stello_graph
RUN pip wheel --no-deps --no-build-isolation --wheel-dir /dist . \
 && /opt/stello-graph/bin/pip install --no-deps --no-index /dist/*.whl

FROM python:3.13-slim
RUN useradd --system --uid 10001 --create-home --home-dir /var/lib/stello-graph stello
COPY --from=build /opt/stello-graph /opt/stello-graph
ENV PATH=/opt/stello-graph/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
USER stello
WORKDIR /var/lib/stello-graph
EXPOSE 8000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=6 \
  CMD ["python", "-c", "import urllib.request as r; r.urlopen('http://127.0.0.1:8000/healthz', timeout=4)"]
CMD ["stello-graph", "serve", "--host", "0.0.0.0", "--port", "8000"]
