import { runInNewContext } from 'node:vm';
import { SCOPES } from '@app/accounts';
import { TestApi } from '../support/http/api.js';
import { cataloguedAs } from '../support/http/catalogue.js';
import { DocumentSchemas } from '../support/http/document-schemas.js';
import {
  type ApiDocument,
  documentOf,
  keyedRoutes,
  nameOf,
  operationAt,
  type Route,
  type Schema,
  send,
} from '../support/http/routes.js';

let api: TestApi;
let document: ApiDocument;

beforeAll(async () => {
  api = await TestApi.start();
  document = await documentOf(api);
});

afterAll(() => api.stop());

/** The verbs that all resources share, by method: of a list, of one record, of what is done to it. */
const VERBS: Record<string, RegExp> = {
  GET: /^(list|get)_/,
  POST: /^(create|add|bulk_invite|send|upload|link|complete|cancel|offboard|publish|refresh)_/,
  PUT: /^(update|complete)_/,
  PATCH: /^update_/,
  DELETE: /^remove_/,
};

/** The headings of the contract's chapter "Endpoints". */
const CONTRACT = [
  'users',
  'invites',
  'classrooms',
  'homework',
  'session-feedback',
  'tutors',
  'results',
  'adjustments',
  'conversations',
  'blog-posts',
  'blog-images',
  'student-groups',
  'parents',
];

const idOf = (route: Route): string => operationAt(document, route).operationId;

describe('/openapi.json', () => {
  it('is a document of OpenAPI 3.1 for the interface 1.x, whose key is the header', () => {
    expect(document.openapi).toBe('3.1.0');
    expect(document.info.version).toMatch(/^1\.\d+\.\d+$/);
    expect(document).toMatchObject({
      components: { securitySchemes: { api_key: { type: 'apiKey', in: 'header', name: 'Authorization' } } },
      security: [{ api_key: [] }],
    });
  });

  it('names every keyed route and nothing else', () => {
    const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect(operations.sort()).toEqual(keyedRoutes(api).map(nameOf).sort());
  });

  it('gives each operation an id of its own, in snake_case, with the verb of its kind', () => {
    const ids = keyedRoutes(api).map(idOf);
    expect(ids.length).toBe(new Set(ids).size);
    for (const route of keyedRoutes(api)) {
      expect([nameOf(route), idOf(route)]).toEqual([nameOf(route), expect.stringMatching(/^[a-z]+(_[a-z]+)*$/)]);
      if (route.path === '/v1/ping') continue;
      expect([nameOf(route), idOf(route)]).toEqual([nameOf(route), expect.stringMatching(VERBS[route.method]!)]);
      if (route.method !== 'GET') continue;
      const { schema } = operationAt(document, route).responses[200]!.content['application/json'];
      const list = schema.type === 'array' || schema.properties?.meta !== undefined;
      expect([nameOf(route), idOf(route).startsWith('list_')]).toEqual([nameOf(route), list]);
    }
  });

  it('keeps the ids that clients were generated from', () => {
    for (const route of keyedRoutes(api)) {
      expect([nameOf(route), idOf(route)]).toEqual([nameOf(route), cataloguedAs(route).id]);
    }
  });

  it('tells the scopes of each operation, in words and for programs', () => {
    for (const route of keyedRoutes(api)) {
      const operation = operationAt(document, route);
      const scopes = route.access?.public === false ? route.access.scopes : [];
      expect([nameOf(route), operation['x-required-scopes']]).toEqual([nameOf(route), scopes]);
      expect(scopes.length).toBeGreaterThan(0);
      for (const scope of scopes) {
        expect(Object.keys(SCOPES)).toContain(scope);
        expect(operation.description).toContain(`\`${scope}\``);
      }
    }
  });

  it('explains every scope, in the words of the one table', () => {
    const { securitySchemes } = document.components as unknown as {
      securitySchemes: { api_key: { description: string } };
    };
    const lines = securitySchemes.api_key.description.split('\n');
    for (const [scope, sentence] of Object.entries(SCOPES)) {
      expect(lines).toContain(`| \`${scope}\` | ${sentence} |`);
    }
  });

  it('says what each operation and each parameter is for', () => {
    for (const route of keyedRoutes(api)) {
      const operation = operationAt(document, route);
      expect([nameOf(route), operation.summary]).toEqual([nameOf(route), expect.stringMatching(/^[A-Z].{10,}[^.]$/)]);
      for (const parameter of operation.parameters as ((typeof operation.parameters)[number] &
        Record<string, unknown>)[]) {
        if (parameter.in === 'query') {
          const described = [nameOf(route), parameter.name, parameter.description];
          expect(described).toEqual([nameOf(route), parameter.name, expect.stringMatching(/\.$/)]);
        }
        // On a parameter, examples would be a map of named ones.
        expect([nameOf(route), parameter.name, Array.isArray(parameter.examples)]).toEqual([
          nameOf(route),
          parameter.name,
          false,
        ]);
      }
      const inPath = [...route.path.matchAll(/:([^/]+)/g)].map((match) => match[1]);
      const named = operation.parameters.filter((parameter) => parameter.in === 'path').map(({ name }) => name);
      expect([nameOf(route), named]).toEqual([nameOf(route), inPath]);
    }
  });

  it('documents every refusal of the pipeline, and 404 where there is an id', () => {
    for (const route of keyedRoutes(api)) {
      const statuses = Object.keys(operationAt(document, route).responses);
      const expected = ['401', '403', '422', '429', '500', '503', ...(route.path.includes(':') ? ['404'] : [])];
      expect([nameOf(route), expected.filter((status) => !statuses.includes(status))]).toEqual([nameOf(route), []]);
    }
  });

  it('has an example of each answer that fits its own schema', () => {
    const schemas = new DocumentSchemas(document);
    for (const route of keyedRoutes(api)) {
      const operation = operationAt(document, route);
      for (const [status, { content }] of Object.entries(operation.responses)) {
        if (!status.startsWith('2') || status === '204') continue;
        const { schema, example } = content['application/json'];
        const fits = schemas.ofAnswer(route, status);
        expect([nameOf(route), example]).not.toEqual([nameOf(route), undefined]);
        expect([nameOf(route), fits(example), fits.errors]).toEqual([nameOf(route), true, null]);
        expect([nameOf(route), fits({ ...(example as object), unheard_of: 1 })]).toEqual([nameOf(route), false]);
        expect(JSON.stringify(schema)).toContain('#/components/schemas/');
      }
    }
  });

  it('groups the operations under tags with texts, in the order of the contract', () => {
    const tags = document.tags!.map(({ name }) => name);
    const used = keyedRoutes(api).map((route) => operationAt(document, route).tags[0]!);
    expect(tags.toSorted()).toEqual([...new Set(used)].sort());
    for (const tag of document.tags!) {
      expect(tag).toEqual({
        name: tag.name,
        'x-displayName': expect.stringMatching(/^[A-Z][a-z ]+$/) as string,
        description: expect.stringMatching(/^[A-Z].{10,}\.$/) as string,
      });
    }
    expect(tags.filter((name) => CONTRACT.includes(name))).toEqual(CONTRACT);
  });

  it('refers to nothing that it does not have', () => {
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)].map((match) => match[1]!);
    const known = (['schemas', 'responses', 'headers'] as const).flatMap((kind) =>
      Object.keys(document.components[kind]).map((name) => `#/components/${kind}/${name}`),
    );
    expect(references.length).toBeGreaterThan(50);
    const mapped = [...JSON.stringify(document).matchAll(/"mapping":\{([^}]*)\}/g)].flatMap(([, mapping]) =>
      [...mapping!.matchAll(/:"([^"]+)"/g)].map((match) => match[1]!),
    );
    expect(mapped.length).toBe(8);
    expect([...references, ...mapped].filter((reference) => !known.includes(reference))).toEqual([]);
    expect(known.filter((name) => !references.includes(name))).toEqual([]);
  });

  it('gives every value of a set, and the bounds of every number that has some', () => {
    const parameters = keyedRoutes(api).flatMap((route) => operationAt(document, route).parameters);
    for (const { name, schema } of parameters as { name: string; schema: Schema }[]) {
      if (['status', 'type', 'mode', 'scope', 'target', 'homework_type'].includes(name))
        expect(schema.enum ?? schema.pattern).toBeDefined();
      if (schema.type === 'integer')
        expect([name, typeof schema.minimum, typeof schema.maximum]).toEqual([name, 'number', 'number']);
    }
  });

  it('is the same in YAML', async () => {
    const { status, text } = await send(api, 'GET', '/openapi.yaml');
    expect(status).toBe(200);
    for (const path of Object.keys(document.paths)) expect(text).toContain(`${path}:`);
  });
});

describe('/ and /docs', () => {
  const PAGES = ['/', '/docs'];

  /** What a page makes the browser fetch, or leads to. */
  const references = (text: string): string[] =>
    [...text.matchAll(/(?:src|href|spec-url)=["']([^"']+)["']/g)].map((match) => match[1]!);

  it.each(PAGES)('%s works without the internet: everything that it names comes from here', async (path) => {
    const page = await send(api, 'GET', path, { Accept: 'text/html' });
    expect(page.status).toBe(200);
    expect(page.headers['content-type']).toContain('text/html');
    const files = references(page.text);
    expect(files.length).toBeGreaterThan(4);
    const base = new URL(path, 'http://this.host');
    for (const file of files) {
      const url = new URL(file, base);
      expect([file, url.host]).toEqual([file, base.host]);
      const asset = await send(api, 'GET', url.pathname);
      expect([file, asset.status]).toEqual([file, 200]);
      if (url.pathname.endsWith('.css')) expect(asset.text).not.toMatch(/@import|url\(["']?(https?:)?\/\//);
    }
  });

  it.each(PAGES)(
    '%s is told by its policy to fetch nothing from elsewhere, and runs no inline script',
    async (path) => {
      const page = await send(api, 'GET', path, { Accept: 'text/html' });
      const policy = new Map(
        page.headers['content-security-policy']!.split(';').map((part) => {
          const [name, ...sources] = part.trim().split(/\s+/);
          return [name!, sources] as const;
        }),
      );
      expect(policy.get('default-src')).toEqual(["'none'"]);
      for (const name of ['script-src', 'connect-src']) expect([name, policy.get(name)]).toEqual([name, ["'self'"]]);
      expect(policy.get('img-src')).toEqual(["'self'", 'data:']);
      for (const name of ['base-uri', 'form-action', 'frame-ancestors']) {
        expect([name, policy.get(name)]).toEqual([name, ["'none'"]]);
      }
      expect(page.text).not.toMatch(/<script(?![^>]*\bsrc=)|<style|\son[a-z]+=|\sstyle=/);
    },
  );

  it('the reference shows this document; its code is one file, sent compressed to whoever takes that', async () => {
    const page = await send(api, 'GET', '/docs');
    expect(page.text).toMatch(/<rapi-doc\s+spec-url="openapi\.json"/);
    const code = await send(api, 'GET', '/docs/rapidoc.js', { 'Accept-Encoding': 'gzip' });
    expect(code.headers['content-type']).toMatch(/javascript/);
    expect(code.headers['cache-control']).toBe('public, max-age=3600');
    expect(code.headers.vary).toContain('Accept-Encoding');
  });

  it('what is pasted as a key becomes the header, whichever form it has', async () => {
    const { text } = await send(api, 'GET', '/docs/docs.js');
    const [source] = /function headerOf[^]*?\n}/.exec(text)!;
    const headerOf = runInNewContext(`${source}; headerOf`) as (pasted: string) => string;
    const key = 'tk_live_00';
    for (const pasted of [
      key,
      ` ${key}\n`,
      `Token token=${key}`,
      ` token token=${key} `,
      `Authorization: Token token=${key}`,
    ]) {
      expect(headerOf(pasted).toLowerCase()).toBe(`token token=${key}`);
    }
    expect(headerOf('  ')).toBe('');
  });

  it('/ is a page for people and JSON for programs that ask for it', async () => {
    for (const [accept, type] of [
      ['text/html,application/xhtml+xml,*/*;q=0.8', 'text/html'],
      ['*/*', 'text/html'],
      ['application/json', 'application/json'],
    ] as const) {
      const { headers } = await send(api, 'GET', '/', { Accept: accept });
      expect([accept, headers['content-type'], headers.vary]).toEqual([
        accept,
        expect.stringContaining(type),
        expect.stringContaining('Accept'),
      ]);
    }
    const { text } = await send(api, 'GET', '/', { Accept: 'application/json', Host: 'a.example' });
    expect(JSON.parse(text)).toEqual({
      name: 'Tutoring API',
      version: document.info.version,
      docs: 'http://a.example/docs',
      openapi: 'http://a.example/openapi.json',
      health: 'http://a.example/health/ready',
    });
  });

  it('/ shows the address that was asked for, and nothing that could be run', async () => {
    const page = await send(api, 'GET', '/', { Accept: 'text/html', Host: '"><script>alert(1)</script>' });
    expect(page.text).not.toContain('<script');
  });
});
