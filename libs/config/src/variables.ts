import {
  baseUrl,
  databaseUrl,
  databaseUrls,
  flag,
  integer,
  list,
  oneOf,
  privateNetworks,
  sender,
  type Setting,
  text,
  url,
} from './settings.js';

/** An environment variable: how it is read, its default, and what it means to whoever sets it. */
export interface Variable<T> extends Setting<T> {
  meaning: string;
}

const days = (usual: number) => integer(usual, 1, 36_500);

function about<T>(meaning: string, setting: Setting<T>): Variable<T> {
  return { ...setting, meaning };
}

/** All variables that the service reads. `npm run configuration` writes `.env.example` and docs/configuration.md from this. */
export const groups = {
  Process: {
    NODE_ENV: about(
      '`development`, `test` or `production`. Production refuses to start on an unsafe database (see `cli doctor`).',
      oneOf('development', ['development', 'test', 'production']),
    ),
    HOST: about('Address to listen on. Default: 127.0.0.1 under `npm start`, otherwise all addresses.', text(null)),
    PORT: about('Port to listen on. Under `npm start`, `0` takes a free one.', integer(3000, 0, 65535)),
    PORTAL_PORT: about("The portal's port. Default: the one after `PORT`.", integer(null, 0, 65535)),
    METRICS_PORT: about(
      'The port on which the worker serves `/metrics`, for Prometheus. Unset: none. API and portal serve it on their own ports.',
      integer(null, 0, 65535),
    ),
    PUBLIC_URL: about(
      "The API's address as clients see it. Used in links, also from the portal to uploaded files, and in the URLs of images on disk. In production, `cli key` refuses to print a link without it.",
      baseUrl(),
    ),
    APP_URL: about(
      "The portal's address as people see it. Used in mails and in join links: `{APP_URL}/join/…`. Use https: then cookies are bound to the host, and browsers send what the protection of forms needs. Default: `http://localhost:<PORTAL_PORT>`; production does not start without it.",
      baseUrl(),
    ),
    TRUST_PROXY: about(
      "Set to `true` behind exactly one reverse proxy. The client's address is then the last one in `X-Forwarded-For`.",
      flag(false),
    ),
    CORS_ORIGINS: about(
      'Comma-separated origins whose pages may call the API, or `*` for all. Never put a key into a public page.',
      list(['*']),
    ),
    LOG_LEVEL: about(
      '`fatal`, `error`, `warn`, `info`, `debug`, `trace` or `silent`. Logs are JSON lines on standard output.',
      oneOf('info', ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']),
    ),
    SHUTDOWN_DELAY_SECONDS: about(
      'How long API and portal keep serving after SIGTERM while `/health/ready` returns 503, so that load balancers can notice. Under `npm start`, and with Ctrl-C, they do not wait.',
      integer(3, 0, 300),
    ),
  },
  'Database and Redis': {
    DATABASE_URL: about(
      "The API's role, which owns nothing and cannot bypass row-level security. Unset: an embedded PostgreSQL in `DATA_DIR`. For TLS add `?sslmode=require`, which verifies the certificate, and `&sslrootcert=<file>` for a private authority.",
      databaseUrl(),
    ),
    WORKER_DATABASE_URL: about(
      "The worker's role, which may run the functions that serve all organizations. For the worker and `migrate`. Default: `DATABASE_URL`, which is fine on a laptop with one role for everything. Production refuses it.",
      databaseUrl(),
    ),
    WORKER_LISTEN_URL: about(
      "Where the worker listens for notifications: the address of PostgreSQL itself, with the worker's role, if `WORKER_DATABASE_URL` leads through a pooler in transaction mode, which passes none on. Default: `WORKER_DATABASE_URL`.",
      databaseUrl(),
    ),
    PORTAL_DATABASE_URL: about(
      "The portal's role. For the portal, `migrate`, and commands that change an organization. Default: `DATABASE_URL`, which production refuses.",
      databaseUrl(),
    ),
    MIGRATION_DATABASE_URL: about(
      "The owner's role, for the command line. Not a superuser. In production, the processes refuse to start if it is set. Default: `DATABASE_URL`.",
      databaseUrl(),
    ),
    ADMIN_DATABASE_URL: about(
      'A superuser, used only by `cli roles` to create the four roles and the database.',
      databaseUrl(),
    ),
    DATABASE_REPLICA_URLS: about(
      'Streaming replicas that the API reads from, as its role, separated by commas. Every process needs the setting, and `REDIS_URL`: they tell each other what has been written. See docs/scaling.md.',
      databaseUrls(),
    ),
    DATABASE_POOL_SIZE: about(
      "Connections per process. One organization's requests use at most half of them.",
      integer(10, 1, 500),
    ),
    REDIS_URL: about(
      'Shares rate limits and jobs between processes. Required for several APIs or workers.',
      url(['redis', 'rediss']),
    ),
    REQUEST_DEADLINE_SECONDS: about(
      'A request that takes longer gets a 503. The time a client takes to send the body does not count.',
      integer(6, 1, 600),
    ),
  },
  'npm start': {
    DATA_DIR: about('Holds the embedded PostgreSQL, the encryption key, images and logs.', text('.data')),
    DEMO: about(
      'Load the demo organizations at the first start. Default: `true` with the embedded PostgreSQL, `false` with `DATABASE_URL`.',
      flag(null),
    ),
  },
  'The service': {
    ENCRYPTION_KEY: about(
      '64 hex characters (`openssl rand -hex 32`), the same for all processes. `npm start` generates one in `DATA_DIR`.',
      text(null, /^[0-9a-fA-F]{64}$/, '64 hex characters (openssl rand -hex 32)'),
    ),
    API_KEY_PREFIX: about(
      'How new API keys begin: `<prefix>_live_…`. Existing keys keep working when you change it.',
      text('tk', /^[a-z][a-z0-9]{0,15}$/, 'up to 16 lowercase letters and digits, starting with a letter'),
    ),
    CJK_FONT: about(
      'A font file (`.ttf`, `.otf` or `.ttc`) with which papers print Chinese, Japanese and Korean, such as `/usr/share/fonts/truetype/wqy/wqy-microhei.ttc` of the package `fonts-wqy-microhei`. Unset: boxes. API and worker need the same file.',
      text(null),
    ),
    BLOG_BRANDS: about('The two brands that blog posts can have.', list(['primary', 'secondary'], 2)),
    RATE_LIMIT_PER_MINUTE: about('Requests per API key.', integer(600, 1, 1_000_000)),
    AUTH_FAILURES_PER_MINUTE: about('Failed authentications per client address.', integer(60, 1, 1_000_000)),
    REQUEST_LOG: about(
      'Record each request of an API key for its organization: time, route, status and duration.',
      flag(true),
    ),
    REQUEST_LOG_DAYS: about(
      'How long recorded requests are kept, and no more than 100,000 of an organization.',
      days(30),
    ),
    AUDIT_DAYS: about('How long the audit log is kept.', days(2_557)),
    TAX_YEARS: about(
      'How old an issued invoice may be, in years, to keep the name on it when its student is erased.',
      integer(7, 1, 50),
    ),
    AUDIT_NETWORK_DAYS: about('How long it keeps sign-ins, and the networks that changes came from.', days(90)),
    REFUSAL_DAYS: about(
      'How long it keeps refused writes of API keys: the first of each key, route and status in an hour.',
      days(30),
    ),
    REFUSAL_COUNT_DAYS: about('How long it is known how many were refused.', days(90)),
    OUTBOX_DAYS: about('How long mails and build hook calls are kept after they were sent or given up.', days(90)),
    EVENT_DAYS: about('How long events stay in the feed.', days(30)),
    WEBHOOK_PRIVATE_NETWORKS: about(
      'What build hooks and webhooks of organizations may reach beside the public internet, in production: comma-separated networks (`10.20.0.0/16`), or one place for one organization (`wattle-lane crm.internal:8080`). There, plain http and any port are allowed. With demo data, `npm start` admits this machine unless it is set. The agents of clouds (169.254.0.0/16, 168.63.129.16) never are.',
      privateNetworks(),
    ),
    BOOKING_REQUEST_DAYS: about('How long a booking request waits, unchanged, before it has expired.', days(60)),
    IDEMPOTENCY_TTL_HOURS: about('How long a response is kept for its `Idempotency-Key`.', integer(24, 1, 24 * 365)),
    INVITE_TTL_DAYS: about('How long an invite to one person is valid.', integer(14, 1, 3650)),
    LINK_TTL_DAYS: about('How long a shareable link or code is valid.', integer(90, 1, 3650)),
    INVITE_MAILS_PER_DAY: about(
      'Invitation mails per organization in 24 hours. After that, responses still contain the link.',
      integer(500, 0, 1_000_000),
    ),
    CONFIRMATION_MAILS_PER_DAY: about(
      'Mails per organization in 24 hours that ask people who join, such as with a code, to confirm their address.',
      integer(100, 0, 1_000_000),
    ),
    FAMILY_MAILS_PER_DAY: about(
      'Mails to families per organization in 24 hours, such as invoices; ten for each accepted student, if that is more. Beyond that, they wait.',
      integer(5_000, 1, 10_000_000),
    ),
    UNPROVEN_FAMILY_MAILS_PER_DAY: about(
      'Of these, mails to addresses that nobody has shown to read. Raise it for organizations that you know.',
      integer(200, 1, 10_000_000),
    ),
  },
  Mail: {
    SMTP_URL: about(
      '`smtp://user:password@host:587` or `smtps://…`. Unset: nothing is mailed, `emailed` is `false`, and you pass on the link yourself. `file:///folder` writes .eml files instead, as `npm start` does.',
      url(['smtp', 'smtps', 'file']),
    ),
    MAIL_FROM: about(
      'Sender of all mail, shown as `<organization> via <name>`.',
      sender('Tutoring <no-reply@localhost>'),
    ),
  },
  'Road times': {
    ROUTING_URL: about(
      'An OSRM server of your own, such as `http://127.0.0.1:5000`. It is sent coordinates of postcodes, and nothing else. Unset: no road times.',
      baseUrl(),
    ),
    ROUTING_TIMEOUT_SECONDS: about('How long one refresh of road times waits for it, in all.', integer(5, 1, 30)),
  },
  'Storage of images and documents': {
    STORAGE: about(
      'Where images and documents are kept: `disk` (in `DATA_DIR`: `media`, served at `/media`, and `private`; API, worker and portal need the same folder) or `s3`.',
      oneOf('disk', ['disk', 's3']),
    ),
    FILES_MB_PER_ORG: about(
      'How many MB of documents an organization can upload, in all.',
      integer(10_240, 1, 1_000_000_000),
    ),
    S3_BUCKET: about('The bucket for images with `STORAGE=s3`. Everybody must be able to read it.', text(null)),
    S3_PRIVATE_BUCKET: about(
      'The bucket for documents with `STORAGE=s3`. Nobody but the service may read it. Unset: documents cannot be uploaded.',
      text(null),
    ),
    S3_ENDPOINT: about('The endpoint of an S3-compatible service. Unset: Amazon S3.', baseUrl()),
    S3_PUBLIC_URL: about(
      "The public address of the bucket, such as a CDN. Unset: the bucket's address at the endpoint.",
      baseUrl(),
    ),
    S3_REGION: about("The bucket's region.", text('us-east-1')),
    S3_ACCESS_KEY_ID: about("Unset: the machine's own credentials.", text(null)),
    S3_SECRET_ACCESS_KEY: about('Goes with `S3_ACCESS_KEY_ID`: set both or neither.', text(null)),
  },
} satisfies Record<string, Record<string, Variable<unknown>>>;

/** The same by name. */
export const variables = {
  ...groups.Process,
  ...groups['Database and Redis'],
  ...groups['npm start'],
  ...groups['The service'],
  ...groups.Mail,
  ...groups['Road times'],
  ...groups['Storage of images and documents'],
};
