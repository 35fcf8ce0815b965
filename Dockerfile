# One image for every part: `worker`, `bridge`, `local`, and the command line itself.

FROM node:24.21-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
# The build comes after the sources, so npm must not start it here.
RUN npm ci --ignore-scripts
COPY tsconfig.json tsconfig.build.json ./
COPY scripts scripts
COPY src src
COPY activities activities
COPY workflows workflows
# Temporal's package brings its native part for every platform; the image needs its own only.
RUN npm run build && npm prune --omit=dev --ignore-scripts \
  && find node_modules/@temporalio/core-bridge/releases -mindepth 1 -maxdepth 1 ! -name "$(uname -m)-unknown-linux-gnu" \
    -exec rm -r {} +

FROM node:24.21-bookworm-slim
# The certificates are for TLS to Temporal, whose client does not use Node's own. The others isolate the sandboxes of `local`, where
# the container is allowed to make namespaces.
RUN apt-get update \
  && apt-get install -y --no-install-recommends bubblewrap ca-certificates iproute2 netbase slirp4netns \
  && rm -rf /var/lib/apt/lists/* \
  && install -d -o node -g node -m 700 /var/lib/sandflow \
  && ln -s /app/dist/src/cli/main.js /usr/local/bin/sandflow
ENV NODE_ENV=production SANDFLOW_HOME=/var/lib/sandflow
COPY --from=build /app/package.json /app/
COPY --from=build /app/node_modules /app/node_modules
COPY --from=build /app/dist /app/dist
COPY LICENSE /app/
USER node
# Commands save results in the current folder.
WORKDIR /home/node
VOLUME /var/lib/sandflow
ENTRYPOINT ["sandflow"]
CMD ["--help"]
