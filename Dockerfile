# One image for the front end and the workers; docker-compose.yml says which one a container is.
FROM python:3.11-slim

RUN useradd --create-home --uid 10001 sigtest
WORKDIR /srv/sigtest

COPY constraints-service.txt ./
RUN pip install --no-cache-dir --require-hashes -r constraints-service.txt

COPY sigtest ./sigtest
COPY workers ./workers
COPY app ./app

# kernels are compiled here, into __pycache__ next to the code, and only read afterwards
RUN python -m sigtest.warm

USER sigtest
ENV PYTHONUNBUFFERED=1
EXPOSE 8000
CMD ["uvicorn", "--factory", "app.main:create_app", "--host", "0.0.0.0", "--port", "8000"]
