import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { runInNewContext } from 'node:vm';
import { TestApi } from '../../support/http/api.js';
import { documentOf, send } from '../../support/http/routes.js';

const api = await TestApi.shared();
const document = await documentOf(api);

interface Sampled {
  'x-codeSamples'?: { source: string }[];
  requestBody?: { content: object };
}

const GUIDES = Object.keys(JSON.parse(readFileSync('apps/api/assets/guides.json', 'utf8')) as object);

describe('/ and /docs', () => {
  const PAGES = ['/', '/docs', ...GUIDES.map((name) => `/docs/${name}`)];

  /** What a page links to or makes the browser fetch. */
  const references = (text: string): string[] => [...text.matchAll(/(?:src|href|spec-url)=["']([^"']+)["']/g)].map((match) => match[1]!);

  it.each(PAGES)('%s loads everything from this host', async (path) => {
    const page = await send(api, 'GET', path, { Accept: 'text/html' });
    expect(page.status).toBe(200);
    expect(page.headers['content-type']).toContain('text/html');
    const files = references(page.text);
    expect(files.length).toBeGreaterThan(3);
    const base = new URL(path, 'http://this.host');
    for (const file of files) {
      const url = new URL(file, base);
      expect([file, url.host]).toEqual([file, base.host]);
      const asset = await send(api, 'GET', url.pathname);
      expect([file, asset.status]).toEqual([file, 200]);
      if (url.pathname.endsWith('.css')) expect(asset.text).not.toMatch(/@import|url\(["']?(https?:)?\/\//);
    }
  });

  it.each(PAGES)('%s has a content security policy that allows no requests to other hosts and no inline scripts', async (path) => {
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
  });

  it('/docs shows this document with a single script, compressed if the client accepts it', async () => {
    const page = await send(api, 'GET', '/docs');
    expect(page.text).toMatch(/<rapi-doc\s+data-spec-url="openapi\.json"/);
    const code = await send(api, 'GET', '/docs/rapidoc.js', { 'Accept-Encoding': 'gzip' });
    expect(code.headers['content-type']).toMatch(/javascript/);
    expect(code.headers['cache-control']).toBe('public, max-age=3600');
    expect(code.headers.vary).toContain('Accept-Encoding');
  });

  it('the guides are linked from / and the document, and have what docs/ has', async () => {
    const landing = await send(api, 'GET', '/', { Accept: 'text/html' });
    for (const name of GUIDES) {
      expect(landing.text).toContain(`href="docs/${name}"`);
      expect(document.info.description).toContain(`](docs/${name})`);
      const source = readFileSync(new URL(`../../../docs/${name}.md`, import.meta.url), 'utf8');
      const { text } = await send(api, 'GET', `/docs/${name}`);
      const headings = (pattern: RegExp, of: string) => [...of.matchAll(pattern)].map(([, title]) => title!.replaceAll(/<[^>]+>|`/g, ''));
      expect([name, headings(/<h[1-6]>(.*?)<\/h/g, text)]).toEqual([name, headings(/^#+ (.*)$/gm, source.replaceAll(/^```[^]*?^```$/gm, ''))]);
      expect(text).not.toMatch(/\.md"|\{\{/);
    }
    const without = await send(api, 'GET', '/docs');
    expect(/<noscript>[^]*<\/noscript>/.exec(without.text)![0]).toMatch(/JavaScript.*openapi\.json.*guides/s);
  });

  it('shows the operations in the order of the job, each with a call in curl that a shell runs', () => {
    const order = ['users', 'subjects', 'sessions', 'invoices', 'leads', 'messages', 'blog-posts', 'ping'];
    const at = document.tags!.map(({ name }) => name);
    expect(order.map((name) => at.indexOf(name))).toEqual(order.map((name) => at.indexOf(name)).sort((a, b) => a - b));
    const script = [`curl() { printf '%s\\0' "$@" END; }`, 'uuidgen() { echo id; }', 'BASE=https://api.example KEY=tk_live_0 ETAG=v1'];
    const expected: [method: string, path: string, hasBody: boolean][] = [];
    for (const [path, operations] of Object.entries(document.paths)) {
      for (const [method, operation] of Object.entries(operations as Record<string, Sampled>)) {
        for (const [, name] of path.matchAll(/\{(\w+)\}/g)) script.push(`${name!.toUpperCase()}=of-${name}`);
        expect([path, method, operation['x-codeSamples']?.length]).toEqual([path, method, 1]);
        script.push(operation['x-codeSamples']![0]!.source);
        const body = operation.requestBody?.content ?? {};
        expected.push([method.toUpperCase(), path.replaceAll(/\{(\w+)\}/g, 'of-$1'), 'application/json' in body]);
      }
    }
    const printed = execFileSync('sh', ['-euc', script.join('\n')], { encoding: 'utf8', maxBuffer: 2 ** 24 });
    const calls = printed
      .split('END\0')
      .slice(0, -1)
      .map((call) => call.split('\0').slice(0, -1));
    expect(calls).toHaveLength(expected.length);
    for (const [index, call] of calls.entries()) {
      const [method, path, hasBody] = expected[index]!;
      expect([method, call]).toEqual([method, expect.arrayContaining([`https://api.example${path}`, 'Authorization: Token token=tk_live_0'])]);
      expect(call.includes('-X') ? call[call.indexOf('-X') + 1] : 'GET').toBe(method);
      if (hasBody) expect(() => void JSON.parse(call[call.indexOf('-d') + 1]!)).not.toThrow();
    }
  });

  it('docs.js builds the header from a pasted key in any form', async () => {
    const { text } = await send(api, 'GET', '/docs/docs.js');
    const [source] = /function headerOf[^]*?\n}/.exec(text)!;
    const headerOf = runInNewContext(`${source}; headerOf`) as (pasted: string) => string;
    const key = 'tk_live_00';
    for (const pasted of [key, ` ${key}\n`, `Token token=${key}`, ` token token=${key} `, `Authorization: Token token=${key}`]) {
      expect(headerOf(pasted).toLowerCase()).toBe(`token token=${key}`);
    }
    expect(headerOf('  ')).toBe('');
  });

  it('/ returns a page to people and JSON to programs that ask for it', async () => {
    for (const [accept, type] of [
      ['text/html,application/xhtml+xml,*/*;q=0.8', 'text/html'],
      ['*/*', 'text/html'],
      ['application/json', 'application/json'],
    ] as const) {
      const { headers } = await send(api, 'GET', '/', { Accept: accept });
      expect([accept, headers['content-type'], headers.vary]).toEqual([accept, expect.stringContaining(type), expect.stringContaining('Accept')]);
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

  it('/ escapes the host that was requested, and refuses a malformed one', async () => {
    const page = await send(api, 'GET', '/', { Accept: 'text/html', Host: "a.example'&" });
    expect([page.status, page.text.includes("a.example'&")]).toEqual([200, false]);
    const refused = await send(api, 'GET', '/', { Accept: 'text/html', Host: '"><script>alert(1)</script>' });
    expect([refused.status, refused.text.includes('<script')]).toEqual([400, false]);
  });

  it('the document names the public address of the service', async () => {
    expect(document.servers).toEqual([{ url: '/' }]);
    const published = await TestApi.start({ PUBLIC_URL: 'https://api.example.org/v' });
    try {
      expect((await documentOf(published)).servers).toEqual([{ url: 'https://api.example.org/v' }]);
      const { text } = await send(published, 'GET', '/openapi.yaml');
      expect(text).toContain('servers:\n  - url: https://api.example.org/v\n');
    } finally {
      await published.stop();
    }
  });
});
