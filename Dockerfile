# One image for every part: `worker`, `bridge`, `local`, and the command line itself.

FROM node:20.19-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
# The build comes after the sources, so npm must not start it here.
RUN npm ci --ignore-scripts
COPY tsconfig.json tsconfig.build.json ./
COPY scripts scripts
COPY src src
COPY activities activities
COPY workflows workflows
RUN npm run build && npm prune --omit=dev --ignore-scripts

FROM node:20.19-bookworm-slim
# The certificates are for TLS to Temporal, whose client does not use Node's own. The others isolate the sandboxes of `local`, where
# the container is allowed to make namespaces.
RUN apt-get update \
  && apt-get install -y --no-install-recommends bubblewrap ca-certificates slirp4netns \
  && rm -rf /var/lib/apt/lists/* \
  && install -d -o node -g node -m 700 /var/lib/sandflow
ENV NODE_ENV=production SANDFLOW_HOME=/var/lib/sandflow
WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/dist dist
COPY LICENSE ./
USER node
VOLUME /var/lib/sandflow
ENTRYPOINT ["node", "/app/dist/src/cli/main.js"]
CMD ["--help"]
