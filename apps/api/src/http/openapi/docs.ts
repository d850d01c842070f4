import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import type { INestApplication } from '@nestjs/common';
import type { Express, Request, RequestHandler, Response } from 'express';
import helmet from 'helmet';
import { Env } from '@app/config';
import { RouteTable } from '../routing/route-table.js';
import { buildDocument, INTERFACE_VERSION, type ReferenceTag } from './document.js';

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

/** Serves `/`, `/docs`, `/openapi.json` and `/openapi.yaml`. The pages load nothing from other hosts. */
export function serveDocs(app: INestApplication, tags: ReferenceTag[]): void {
  const server = app.getHttpAdapter().getInstance() as Express;
  const routes = app.get(RouteTable);
  const serve = (path: string, ...handlers: RequestHandler[]) => {
    server.get(path, ...handlers);
    routes.addPage(path);
  };
  // Built on the first request, to keep start-up and tests fast.
  let built: ReturnType<typeof buildDocument> | undefined;
  const document = () => (built ??= buildDocument(app, tags));
  serve('/openapi.json', async (_request, response) => {
    response.type('application/json').send(JSON.stringify(await document()));
  });
  serve('/openapi.yaml', async (_request, response) => {
    const { dump } = await import('js-yaml');
    const options = { skipInvalid: true, noRefs: true };
    response.type('text/yaml').send(dump(await document(), options));
  });
  serve('/', PAGE_POLICY, (request, response) => {
    const base = app.get(Env).get('PUBLIC_URL') ?? `${request.protocol}://${request.get('host') ?? 'localhost'}`;
    sendLanding(request, response, base);
  });
  serve('/docs', PAGE_POLICY, (_request, response) => {
    response.type('html').send(readFileSync(asset('docs.html'), 'utf8'));
  });
  // The path has a trailing slash. The redirect is relative like the page's links, because a proxy may add a prefix.
  serve('/docs/', (_request, response) => {
    response.redirect(308, '../docs');
  });
  for (const [name, source] of Object.entries(FILES)) {
    const file = source && !existsSync(asset(name)) ? createRequire(import.meta.url).resolve(source) : asset(name);
    serve(`/docs/${name}`, (request, response) => {
      sendFile(request, response, file);
    });
  }
}

function sendLanding(request: Request, response: Response, base: string): void {
  response.vary('Accept');
  if (request.accepts(['html', 'json']) === 'json') {
    const links = { docs: `${base}/docs`, openapi: `${base}/openapi.json`, health: `${base}/health/ready` };
    response.json({ name: 'Tutoring API', version: INTERFACE_VERSION, ...links });
    return;
  }
  const page = readFileSync(asset('index.html'), 'utf8');
  response.type('html').send(page.replaceAll('{{base}}', escaped(base)).replaceAll('{{version}}', INTERFACE_VERSION));
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

function asset(name: string): string {
  return fileURLToPath(new URL(`../../../assets/${name}`, import.meta.url));
}

/** The Host header is client input. */
function escaped(text: string): string {
  return text.replaceAll(/[^\w.:/-]/g, (sign) => `&#${sign.codePointAt(0)!};`);
}
