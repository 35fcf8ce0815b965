# Two images: `sandflow` for a worker, a bridge and the command line, and `local-service` for the local Sandbox Service,
# with what isolates its sandboxes. The last one is the default.

FROM node:24.21-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
COPY local-service/package.json local-service/
# The build comes after the sources, so npm must not start it here.
RUN npm ci --ignore-scripts
COPY tsconfig.json tsconfig.build.json ./
COPY scripts scripts
COPY src src
COPY activities activities
COPY workflows workflows
COPY local-service local-service
RUN npm run build

FROM build AS local-service-packages
RUN rm -rf node_modules \
  && npm ci --omit=dev --ignore-scripts --workspace sandflow-local-service --include-workspace-root=false

FROM node:24.21-bookworm-slim AS local-service
# They isolate the sandboxes, where the container is allowed to make namespaces. iproute2 finds the names of protocols in netbase.
RUN apt-get update \
  && apt-get install -y --no-install-recommends bubblewrap ca-certificates iproute2 netbase slirp4netns \
  && rm -rf /var/lib/apt/lists/* \
  && install -d -o node -g node -m 700 /var/lib/sandflow \
  && ln -s /app/dist/local-service/src/program/main.js /usr/local/bin/sandflow-local-service
ENV NODE_ENV=production
COPY --from=local-service-packages /app/node_modules /app/node_modules
COPY --from=build /app/local-service/package.json /app/
COPY --from=build /app/local-service/dist /app/dist
COPY LICENSE /app/
USER node
WORKDIR /home/node
VOLUME /var/lib/sandflow
ENTRYPOINT ["sandflow-local-service"]
CMD ["--directory", "/var/lib/sandflow/local"]

FROM build AS packages
# Temporal's package brings its native part for every platform; the image needs its own only.
RUN npm prune --omit=dev --ignore-scripts --workspaces=false \
  && find node_modules/@temporalio/core-bridge/releases -mindepth 1 -maxdepth 1 ! -name "$(uname -m)-unknown-linux-gnu" \
    -exec rm -r {} +

FROM node:24.21-bookworm-slim AS sandflow
# The certificates are for TLS to Temporal, whose client does not use Node's own.
RUN apt-get update \
  && apt-get install -y --no-install-recommends ca-certificates \
  && rm -rf /var/lib/apt/lists/* \
  && install -d -o node -g node -m 700 /var/lib/sandflow \
  && ln -s /app/dist/src/cli/main.js /usr/local/bin/sandflow
# A worker's memory: docs/measurements.md#memory-of-a-worker
ENV NODE_ENV=production SANDFLOW_HOME=/var/lib/sandflow MALLOC_TRIM_THRESHOLD_=131072
COPY --from=build /app/package.json /app/
COPY --from=packages /app/node_modules /app/node_modules
COPY --from=build /app/dist /app/dist
COPY LICENSE /app/
USER node
# Commands save results in the current folder.
WORKDIR /home/node
VOLUME /var/lib/sandflow
ENTRYPOINT ["sandflow"]
CMD ["--help"]
