import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseEnv } from 'node:util';
import { load, YAML11_SCHEMA } from 'js-yaml';
import pg from 'pg';
import { EnvError, loadEnv, readEnvFile, settingNames } from '@app/config';

const documented = parseEnv(readFileSync(fileURLToPath(new URL('../.env.example', import.meta.url)), 'utf8'));

describe('.env.example', () => {
  it('shows the defaults', () => {
    const [shown, actual] = [loadEnv({}, documented), loadEnv({}, {})];
    for (const name of settingNames) expect([name, shown.get(name)]).toEqual([name, actual.get(name)]);
  });

  it('has the same values when a shell sources it', () => {
    const file = fileURLToPath(new URL('../.env.example', import.meta.url));
    const script = 'set -eua; . "$1"; env -0';
    const printed = execFileSync('sh', ['-c', script, 'sh', file], { env: { PATH: '/usr/bin:/bin' }, encoding: 'utf8' });
    const entries = printed.split('\0').map((entry) => [entry.slice(0, entry.indexOf('=')), entry.slice(entry.indexOf('=') + 1)]);
    expect(Object.fromEntries(entries)).toMatchObject(documented);
  });
});

describe('readEnvFile', () => {
  let folder: string;
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'tutoring-env-'))));
  afterEach(() => rmSync(folder, { recursive: true }));

  /** The environment after reading a file with these lines. */
  function read(lines: string[], environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
    writeFileSync(join(folder, '.env'), lines.join('\n'));
    readEnvFile(environment, join(folder, '.env'));
    return environment;
  }

  it('adds variables that are not set, under either of their names', () => {
    expect(read(['PORT=1', 'LOG_LEVEL=debug'], { PORT: '2' })).toEqual({ PORT: '2', LOG_LEVEL: 'debug' });
    expect(read(['SMTP_URL=smtp://a'], { SMTP_URL: '' })).toEqual({ SMTP_URL: '' });
    expect(read(['ENCRYPTION_KEY=a'], { ENCRYPTION_KEY_FILE: '/b' })).toEqual({ ENCRYPTION_KEY_FILE: '/b' });
    expect(read(['ENCRYPTION_KEY_FILE=/a'], { ENCRYPTION_KEY: 'b' })).toEqual({ ENCRYPTION_KEY: 'b' });
  });

  it('ignores a byte order mark and carriage returns', () => {
    expect(read(['\ufeffPORT=1\r', 'export LOG_LEVEL=debug\r'], {})).toEqual({ PORT: '1', LOG_LEVEL: 'debug' });
  });

  it('accepts a missing file, and reports one that it cannot read', () => {
    const environment = {};
    readEnvFile(environment, join(folder, 'none'));
    expect(environment).toEqual({});
    expect(() => readEnvFile(environment, folder)).toThrow(`${folder} cannot be read (EISDIR)`);
  });

  it('comes first in every program', () => {
    for (const app of ['api', 'cli', 'portal', 'worker']) {
      const main = readFileSync(fileURLToPath(new URL(`../apps/${app}/src/main.ts`, import.meta.url)), 'utf8');
      expect(main, app).toMatch(/^try \{\n {2}readEnvFile\(\);/m);
    }
  });
});

describe('docker-compose.yml', () => {
  const path = fileURLToPath(new URL('../docker-compose.yml', import.meta.url));
  const text = readFileSync(path, 'utf8');
  const { services } = load(text, { schema: YAML11_SCHEMA }) as {
    services: Record<string, { ports?: string[]; volumes?: string[]; environment?: Record<string, string> }>;
  };

  it('gives the owner’s URL only to the services of the operator', () => {
    const [, ...blocks] = text.split(/^services:$/m)[1]!.split(/^ {2}([a-z]+):$/m);
    const secret = /\*database|MIGRATION_DATABASE_URL|OWNER_DATABASE_PASSWORD/;
    expect(blocks.filter((_, index) => index % 2 === 0 && secret.test(blocks[index + 1]!))).toEqual(['roles', 'migrate', 'cli']);
    expect(text.match(/tutoring_owner/g)).toHaveLength(1);
    expect(text).not.toMatch(/POSTGRES_USER/);
    // No password has a default.
    for (const [variable] of text.matchAll(/\$\{[A-Z_]*PASSWORD[^}]*\}/g)) expect(variable).toMatch(/:\?/);
  });

  it('lets clients reach API and portal through nginx only', () => {
    const isOpen = ({ ports = [] }: { ports?: string[] }) => ports.some((port) => !port.startsWith('127.'));
    expect(Object.keys(services).filter((name) => isOpen(services[name]!))).toEqual(['nginx']);
    const { ports, volumes } = services.nginx!;
    const [file] = volumes!.find((volume) => volume.includes('/conf.d/'))!.split(':');
    const site = readFileSync(join(dirname(path), file!), 'utf8');
    const listening = [...site.matchAll(/^ {2}listen (\d+);$/gm)].map(([, port]) => port);
    expect(ports!.map((port) => port.split(':').at(-1))).toEqual(listening);
    expect(site.match(/^ {2}server .*$/gm)).toEqual(['  server api:3000;', '  server portal:3001;']);
    for (const name of ['api', 'portal']) expect(services[name]!.environment!.TRUST_PROXY).toBe('true');
  });

  it('passes on every setting of .env', () => {
    const [, environment] = /environment: &environment\n((?: {4}.+\n)+)/.exec(text)!;
    const passed = [...environment!.matchAll(/^ {4}([A-Z0-9_]+):/gm)].map(([, name]) => name!);
    // A container listens on all addresses, on ports that `ports` maps; DEMO belongs to `npm start`.
    const own = settingNames.filter((name) => /(DATABASE|LISTEN)_URL$/.test(name));
    expect([...passed, ...own, 'HOST', 'PORT', 'PORTAL_PORT', 'DEMO'].sort()).toEqual([...settingNames].sort());
  });
});

describe('loadEnv', () => {
  it('reports all faults at once, without values', () => {
    const source = { PORT: '99999', DATABASE_URL: 'mysql://secret@host', BLOG_BRANDS: 'one', TRUST_PROXY: 'maybe' };
    const error = catchError(() => loadEnv({}, source));
    expect(error).toBeInstanceOf(EnvError);
    expect((error as EnvError).faults.map((fault) => fault.split(' ')[0])).toEqual(['PORT', 'TRUST_PROXY', 'DATABASE_URL', 'BLOG_BRANDS']);
    expect((error as EnvError).message).not.toMatch(/secret|99999|maybe/);
  });

  it.each([
    ['PORT', '1e3'],
    ['PORT', '-1'],
    ['PORT', ' 80'],
    ['DATABASE_POOL_SIZE', '0'],
    ['ENCRYPTION_KEY', 'short'],
    ['API_KEY_PREFIX', 'TK'],
    ['LOG_LEVEL', 'loud'],
    ['BLOG_BRANDS', 'a,a'],
    ['REDIS_URL', 'localhost:6379'],
    ['NODE_ENV', 'prod'],
  ])('refuses %s=%s', (name, value) => {
    expect(() => loadEnv({}, { [name]: value })).toThrow(new RegExp(`: ${name} must be`));
  });

  it.each([
    ['require', 'verify-full'],
    ['prefer', 'verify-full'],
    ['verify-ca', 'verify-full'],
    ['verify-full', 'verify-full'],
    ['no-verify', 'no-verify'],
    ['disable', 'disable'],
    ['require&uselibpqcompat=true', 'require&uselibpqcompat=true'],
  ])('replaces sslmode=%s with what the driver does, so that it does not warn', (given, read) => {
    const warnings = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
    try {
      const address = `postgres://user@host/database?application_name=x&sslmode=`;
      for (const name of settingNames.filter((setting) => setting.endsWith('DATABASE_URL'))) {
        const url = loadEnv({}, { [name]: address + given }).get(name);
        expect(url).toBe(address + read);
        new pg.Client({ connectionString: url as string });
      }
      expect(warnings).not.toHaveBeenCalled();
    } finally {
      warnings.mockRestore();
    }
  });

  it.each([
    ['DATABASE_URL', 'postgres://user:pass#word@host/database', 'percent-encoded'],
    ['MIGRATION_DATABASE_URL', 'postgres://user:100%@host/database', 'percent-encoded'],
    ['REDIS_URL', 'redis://user:a/b@host:6379', 'percent-encoded'],
    ['SMTP_URL', 'smtp://user:a?b@host:99999', 'percent-encoded'],
    ['PUBLIC_URL', 'https://api.example.org/?a=1', 'without a user, a query or a fragment'],
    ['APP_URL', 'https://portal.example.org/#', 'without a user, a query or a fragment'],
    ['S3_PUBLIC_URL', 'https://me:secret@cdn.example.org', 'without a user, a query or a fragment'],
    ['MAIL_FROM', 'OrganizationFixture', 'an email address, with or without a name'],
    ['MAIL_FROM', 'Tutoring <no-reply>', 'an email address, with or without a name'],
    ['MAIL_FROM', 'a@example.org, b@example.org', 'an email address, with or without a name'],
  ])('says why it refuses %s=%s, without the value', (name, value, reason) => {
    const { message } = catchError(() => loadEnv({}, { [name]: value })) as EnvError;
    expect(message).toMatch(new RegExp(`: ${name} must be [^\\n]*${reason}`));
    expect(message).not.toContain(value);
  });

  it.each([
    [{}, 'http://localhost:3000', 'http://localhost:3001'],
    [{ HOST: '0.0.0.0', PORT: '80' }, 'http://localhost:80', 'http://localhost:81'],
    [{ HOST: '192.0.2.7' }, 'http://192.0.2.7:3000', 'http://192.0.2.7:3001'],
    [{ HOST: 'fd00::1', PORTAL_PORT: '9' }, 'http://[fd00::1]:3000', 'http://[fd00::1]:9'],
    [{ HOST: '192.0.2.7', PUBLIC_URL: 'https://a.example/', APP_URL: 'https://b.example' }, 'https://a.example', 'https://b.example'],
  ])('derives the URLs of the service from %j', (source, api, portal) => {
    const env = loadEnv({}, source);
    expect([env.apiUrl, env.portalUrl]).toEqual([api, portal]);
  });

  it('reports all missing settings at once', () => {
    const missing = (process: 'api' | 'worker' | 'portal', source: Record<string, string> = {}) => {
      try {
        loadEnv({}, source).needFor(process);
        return [];
      } catch (error) {
        return (error as EnvError).faults.map((fault) => fault.split(' ')[0]);
      }
    };
    const [DATABASE_URL, ENCRYPTION_KEY] = ['postgres://u@h/d', 'a'.repeat(64)];
    for (const process of ['api', 'worker', 'portal'] as const) {
      expect(missing(process)).toEqual(['DATABASE_URL', 'ENCRYPTION_KEY']);
      expect(missing(process, { DATABASE_URL })).toEqual(['ENCRYPTION_KEY']);
      expect(missing(process, { DATABASE_URL, ENCRYPTION_KEY })).toEqual([]);
    }
    expect(missing('worker', { WORKER_DATABASE_URL: DATABASE_URL, ENCRYPTION_KEY })).toEqual([]);
    expect(missing('portal', { PORTAL_DATABASE_URL: DATABASE_URL, ENCRYPTION_KEY })).toEqual([]);
    expect(missing('api', { PORTAL_DATABASE_URL: DATABASE_URL, ENCRYPTION_KEY })).toEqual(['DATABASE_URL']);
    // Links that lead to localhost are for development only.
    for (const process of ['api', 'worker', 'portal'] as const) {
      expect(missing(process, { DATABASE_URL, ENCRYPTION_KEY, NODE_ENV: 'production' })).toEqual(['APP_URL']);
    }
    expect(() => loadEnv({}, { NODE_ENV: 'production' }).portalUrl).toThrow(/: APP_URL is not set: .* localhost$/);
  });

  it('treats an empty variable as unset', () => {
    expect(loadEnv({}, { PORT: '', REDIS_URL: '' }).get('PORT')).toBe(3000);
  });

  it('reads a secret from the file that NAME_FILE names, and reports one that it cannot read', () => {
    const folder = mkdtempSync(join(tmpdir(), 'tutoring-env-'));
    const file = join(folder, 'key');
    writeFileSync(file, `${'ab'.repeat(32)}\n`);
    expect(loadEnv({}, { ENCRYPTION_KEY_FILE: file }).get('ENCRYPTION_KEY')).toBe('ab'.repeat(32));
    rmSync(folder, { recursive: true });
    expect(() => loadEnv({}, { ENCRYPTION_KEY_FILE: file })).toThrow('ENCRYPTION_KEY_FILE cannot be read (ENOENT)');
  });

  it('names a missing setting and the remedy in one line', () => {
    expect(() => loadEnv({}, {}).need('DATABASE_URL')).toThrow(/^The configuration.*: DATABASE_URL is not set: .*npm start.*$/);
    expect(() => loadEnv({}, {}).need('REDIS_URL')).toThrow(/: REDIS_URL is not set: set it/);
  });

  it.each([
    [{ STORAGE: 's3' }, 'S3_BUCKET is not set'],
    [{ S3_ACCESS_KEY_ID: 'a' }, 'set both or neither'],
    [{ S3_SECRET_ACCESS_KEY: 'a' }, 'set both or neither'],
  ])('refuses %j as incomplete', (source, message) => {
    expect(() => loadEnv({}, source)).toThrow(message);
  });

  it('hides unset settings from a child, even if .env has them', () => {
    const source = { MIGRATION_DATABASE_URL: 'postgres://owner@h/d', DATABASE_URL_FILE: '/x', OTHER: 'kept' };
    const env = loadEnv({}, { ...source, DATABASE_URL: 'postgres://app@h/d' });
    expect(env.nameOf('postgres://owner@h/d')).toBe('MIGRATION_DATABASE_URL');
    const child = env.forChildren({ MIGRATION_DATABASE_URL: null, DATABASE_URL: 'postgres://api@h/d' });
    expect(child).toMatchObject({ MIGRATION_DATABASE_URL: '', OTHER: 'kept', DATABASE_URL_FILE: '' });
    readEnvFile(child, fileURLToPath(new URL('../.env.example', import.meta.url)));
    expect(loadEnv({}, child).get('MIGRATION_DATABASE_URL')).toBeNull();
    expect(loadEnv({}, child).get('DATABASE_URL')).toBe('postgres://api@h/d');
  });
});

function catchError(work: () => unknown): unknown {
  try {
    work();
    return undefined;
  } catch (error) {
    return error;
  }
}
