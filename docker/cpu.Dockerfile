# sumfit's server on the CPU. Build from the repository's root:
#   docker build -f docker/cpu.Dockerfile -t sumfit .
#   docker run --rm -p 127.0.0.1:8077:8077 sumfit
# Anything after the image's name goes to sumfit: docker run --rm sumfit "A text ..." --max-chars 60
FROM python:3.12-slim AS build
WORKDIR /build
COPY pyproject.toml README.md LICENSE ./
COPY src src
RUN pip wheel --no-cache-dir --wheel-dir /wheels '.[serve,parquet,zstd]'

FROM python:3.12-slim
RUN --mount=type=bind,from=build,source=/wheels,target=/wheels \
    python -m venv /opt/sumfit \
    && /opt/sumfit/bin/pip install --no-cache-dir --no-index --find-links /wheels 'sumfit[serve,parquet,zstd]' \
    && useradd --uid 10001 --no-create-home --shell /usr/sbin/nologin sumfit \
    && mkdir /var/cache/sumfit && chown sumfit /var/cache/sumfit
ENV PATH=/opt/sumfit/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    NUMBA_CACHE_DIR=/var/cache/sumfit \
    OMP_NUM_THREADS=1
USER 10001
# Compiles the search once, so that a container on such a processor answers within seconds of its start.
RUN sumfit warmup
EXPOSE 8077
HEALTHCHECK --interval=15s --timeout=5s --start-period=60s --retries=3 \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8077/readyz', timeout=4)"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["sumfit"]
CMD ["serve", "--host", "0.0.0.0"]
