# sumfit's server on an NVIDIA GPU: torch backend, batches on the device. From the root:
#   docker build -f docker/cuda.Dockerfile -t sumfit-cuda .
#   docker run --rm --gpus all -p 127.0.0.1:8077:8077 -v /path/to/model:/model:ro sumfit-cuda
# The model directory needs model.safetensors beside the files of every model. The torch wheel
# brings the CUDA libraries, so the base image needs none; the host needs its driver and the
# container toolkit.
FROM python:3.12-slim AS build
WORKDIR /build
COPY pyproject.toml README.md LICENSE ./
COPY src src
RUN pip wheel --no-cache-dir --wheel-dir /wheels '.[serve,train,parquet,zstd]'

FROM python:3.12-slim
RUN --mount=type=bind,from=build,source=/wheels,target=/wheels \
    python -m venv /opt/sumfit \
    && /opt/sumfit/bin/pip install --no-cache-dir --no-index --find-links /wheels 'sumfit[serve,train,parquet,zstd]' \
    && useradd --uid 10001 --no-create-home --shell /usr/sbin/nologin sumfit \
    && mkdir /var/cache/sumfit && chown sumfit /var/cache/sumfit
ENV PATH=/opt/sumfit/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    NUMBA_CACHE_DIR=/var/cache/sumfit \
    NVIDIA_VISIBLE_DEVICES=all \
    NVIDIA_DRIVER_CAPABILITIES=compute,utility
USER 10001
# Compiles the search once, so that a container on such a processor answers within seconds of its start.
RUN sumfit warmup
EXPOSE 8077
HEALTHCHECK --interval=15s --timeout=5s --start-period=180s --retries=3 \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8077/readyz', timeout=4)"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["sumfit"]
CMD ["serve", "--host", "0.0.0.0", "--backend", "torch", "--device", "cuda", "--model", "/model", "--max-batch", "64", "--workers", "2"]
