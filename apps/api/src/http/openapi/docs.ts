import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import type { INestApplication } from '@nestjs/common';
import type { Express, Request, RequestHandler, Response } from 'express';
import helmet from 'helmet';
import { Env } from '@app/config';
import { RouteTable } from '../routing/route-table.js';

/** The pages may only load their own files. The reference has inline styles and requests only this service. */
const PAGE_POLICY = helmet.contentSecurityPolicy({
  useDefaults: false,
  directives: {
    'default-src': "'none'",
    'script-src': "'self'",
    'style-src': ["'self'", "'unsafe-inline'"],
    'img-src': ["'self'", 'data:'],
    'connect-src': "'self'",
    'base-uri': "'none'",
    'form-action': "'none'",
    'frame-ancestors': "'none'",
  },
});

/** One hour: upgrades appear soon, and visitors rarely download the reference's code twice. */
const CACHED = 'public, max-age=3600';

/** The pages' files, by name under /docs. The reference itself is RapiDoc's single file. */
const FILES = { 'docs.js': null, 'style.css': null, 'icon.svg': null, 'rapidoc.js': 'rapidoc/dist/rapidoc-min.js' };

const DOCUMENT = 'openapi.json';

/** Serves `/`, `/docs` and its guides, `/openapi.json` and `/openapi.yaml`. The pages load nothing from other hosts. */
export function serveDocs(app: INestApplication): void {
  const server = app.getHttpAdapter().getInstance() as Express;
  const routes = app.get(RouteTable);
  const serve = (path: string, ...handlers: RequestHandler[]) => {
    server.get(path, ...handlers);
    routes.addPage(path);
  };
  const publicUrl = app.get(Env).get('PUBLIC_URL');
  const document = once(() => readDocument(publicUrl));
  const json = once(() => JSON.stringify(document()));
  const yaml = once(async () => (await import('js-yaml')).dump(document(), { noRefs: true }));
  serve('/openapi.json', (_request, response) => {
    response.type('application/json').send(json());
  });
  serve('/openapi.yaml', async (_request, response) => {
    response.type('text/yaml').send(await yaml());
  });
  serve('/', PAGE_POLICY, (request, response) => {
    const base = publicUrl ?? `${request.protocol}://${request.get('host') ?? 'localhost'}`;
    sendLanding(request, response, base, document().info.version);
  });
  serve('/docs', PAGE_POLICY, (_request, response) => {
    response.type('html').send(readFileSync(asset('docs.html'), 'utf8'));
  });
  // The path has a trailing slash. The redirect is relative like the page's links, because a proxy may add a prefix.
  serve('/docs/', (_request, response) => {
    response.redirect(308, '../docs');
  });
  for (const name of Object.keys(JSON.parse(readFileSync(asset('guides.json'), 'utf8')) as object)) {
    serve(`/docs/${name}`, PAGE_POLICY, (_request, response) => {
      response.type('html').send(readFileSync(built(`guides/${name}.html`), 'utf8'));
    });
  }
  for (const [name, source] of Object.entries(FILES)) {
    const file = source && !existsSync(asset(name)) ? createRequire(import.meta.url).resolve(source) : asset(name);
    serve(`/docs/${name}`, (request, response) => {
      sendFile(request, response, file);
    });
  }
}

/** The part of the document that is read here. */
interface Document {
  info: { version: string };
}

/** The document that the build wrote: building it here would hold the event loop and load 10 MB of code. */
function readDocument(publicUrl: string | null): Document {
  return {
    ...(JSON.parse(readFileSync(built(DOCUMENT), 'utf8')) as Document),
    servers: [{ url: publicUrl ?? '/' }],
  } as Document;
}

/** Computes a value when it is first needed. */
function once<T>(compute: () => T): () => T {
  let computed: { value: T } | undefined;
  return () => (computed ??= { value: compute() }).value;
}

function sendLanding(request: Request, response: Response, base: string, version: string): void {
  response.vary('Accept');
  if (request.accepts(['html', 'json']) === 'json') {
    const links = { docs: `${base}/docs`, openapi: `${base}/openapi.json`, health: `${base}/health/ready` };
    response.json({ name: 'Tutoring API', version, ...links });
    return;
  }
  const page = readFileSync(asset('index.html'), 'utf8');
  response.type('html').send(page.replaceAll('{{base}}', escaped(base)).replaceAll('{{version}}', version));
}

/** Sends the compressed copy, a quarter of the size, if it exists and the client accepts it. */
function sendFile(request: Request, response: Response, file: string): void {
  const compressed = `${file}.gz`;
  response
    .set('Cache-Control', CACHED)
    .vary('Accept-Encoding')
    .type(file.slice(file.lastIndexOf('.')));
  if (request.acceptsEncodings('gzip') && existsSync(compressed)) {
    response.set('Content-Encoding', 'gzip').sendFile(compressed, { cacheControl: false });
  } else {
    response.sendFile(file, { cacheControl: false });
  }
}

/** What the build writes beside its copies of the pages. When the API runs from its sources, it is read from there. */
function built(name: string): string {
  return existsSync(asset(name)) ? asset(name) : asset(`../../../dist/apps/api/assets/${name}`);
}

function asset(name: string): string {
  return fileURLToPath(new URL(`../../../assets/${name}`, import.meta.url));
}

/** The Host header is client input. */
function escaped(text: string): string {
  return text.replaceAll(/[^\w.:/-]/g, (sign) => `&#${sign.codePointAt(0)!};`);
}
