import { execFileSync, spawnSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseEnv } from 'node:util';
import pg from 'pg';
import ts from 'typescript';
import { loadEnv } from '@app/config';
import { ApiError, type ErrorCode, STATUS } from '../../apps/api/src/http/errors/api-error.js';
import { errorBody } from '../../apps/api/src/http/errors/error-formats.js';
import { signatureOf } from '../../apps/worker/src/rebuilds/rebuild.courier.js';
import { createTestDatabase } from '../support/database/database.js';
import { TestApi } from '../support/http/api.js';
import { send } from '../support/http/routes.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const pages = ['.', 'docs', 'docs/decisions'].flatMap((folder) =>
  readdirSync(join(ROOT, folder))
    .filter((name) => name.endsWith('.md'))
    .map((name) => join(folder, name)),
);

/** The files that a page links to, and the headings in them. */
function linksOf(page: string): { target: string; heading: string | undefined }[] {
  return [...read(page).matchAll(/\]\((?!https?:)([^)#]*)(?:#([^)]*))?\)/g)].map(([, target, heading]) => ({
    target: target ? join(dirname(page), target) : page,
    heading,
  }));
}

/** The names by which links refer to the headings of a page. */
function headingsOf(page: string): string[] {
  const titles = [...read(page).matchAll(/^#+ (.*)$/gm)].map(([, title]) => title!.toLowerCase());
  return titles.map((title) => title.replaceAll(/[^\w -]/g, '').replaceAll(' ', '-'));
}

/** The code blocks of a page in one language. */
function blocks(page: string, language: string): string[] {
  return [...read(page).matchAll(new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\`$`, 'gm'))].map(([, code]) => code!);
}

describe('the guides', () => {
  it.each(pages)('%s has no dead link', (page) => {
    const dead = linksOf(page).filter(
      ({ target, heading }) => !existsSync(join(ROOT, target)) || (heading !== undefined && !headingsOf(target).includes(heading)),
    );
    expect(dead).toEqual([]);
  });

  it('are all reachable from the README by links', () => {
    const reached = new Set(['README.md']);
    for (const page of reached) {
      for (const { target } of linksOf(page)) if (target.endsWith('.md')) reached.add(target);
    }
    expect(pages.filter((page) => !reached.has(page))).toEqual([]);
  });

  it('have at most 400 lines, apart from generated ones', () => {
    const generated = ['docs/import-format.md', 'docs/schema.md'];
    const long = pages.filter((page) => !generated.includes(page) && read(page).split('\n').length > 400);
    expect(long).toEqual([]);
  });

  it('errors.md explains every code with its status, and shows real bodies', () => {
    const rows = [...read('docs/errors.md').matchAll(/^\| `(\w+)` \| (\d+) \| .{10,} \| .{10,} \|$/gm)];
    expect(Object.fromEntries(rows.map(([, code, status]) => [code, Number(status)]))).toEqual(STATUS);
    const [standard] = blocks('docs/errors.md', 'json');
    expect(JSON.parse(standard!)).toEqual(errorBody(ApiError.notFound()));
    const retried: ErrorCode[] = ['idempotency_key_in_use', 'service_unavailable'];
    for (const code of retried) expect(read('docs/errors.md')).toMatch(new RegExp(`\`${code}\`.*Retry-After`));
  });
});

describe('what operators copy', () => {
  it('has in every list of settings what links and mails need', () => {
    const [compose] = blocks('docs/deploy.md', 'sh').filter((code) => code.includes('> .env'));
    const [owner] = blocks('docs/systemd.md', 'sh').filter((code) => code.includes('MIGRATION_DATABASE_URL='));
    for (const code of [compose!, owner!]) {
      const settings = parseEnv(/^(?:cat.*\n)?((?:[A-Z_]+=.*\n)+)/m.exec(code)![1]!);
      for (const name of ['APP_URL', 'PUBLIC_URL', 'SMTP_URL', 'MAIL_FROM']) expect(() => loadEnv({}, { [name]: settings[name]! })).not.toThrow();
      expect(Object.keys(settings)).toEqual(expect.arrayContaining(['APP_URL', 'PUBLIC_URL', 'SMTP_URL', 'MAIL_FROM', 'ENCRYPTION_KEY']));
    }
    // A shell reads it too.
    const folder = mkdtempSync(join(tmpdir(), 'tutoring-settings-'));
    const file = join(folder, 'owner.env');
    writeFileSync(file, owner!);
    const printed = execFileSync('sh', ['-euc', 'set -a; . "$1"; printf %s "$MAIL_FROM"', 'sh', file], { encoding: 'utf8' });
    rmSync(folder, { recursive: true });
    expect(printed).toBe(parseEnv(owner!).MAIL_FROM);
  });

  it('has statements in backup.md that the owner can run', async () => {
    const database = await createTestDatabase();
    const owner = new pg.Client({ connectionString: database.ownerUrl, options: '-c app.maintenance=on' });
    try {
      await owner.connect();
      const statements = [...read('docs/backup.md').matchAll(/ psql "\$MIGRATION_DATABASE_URL" -c (["'])(.*?)\1`/g)].map(([, , it]) => it!);
      expect(statements).toHaveLength(2);
      await owner.query(
        `INSERT INTO outbox (id, topic, kind, recipient, payload) VALUES (gen_random_uuid(), 'email', 'verify', 'a@example.org', '')`,
      );
      for (const statement of statements) await owner.query(statement);
      expect((await owner.query<object>('SELECT status FROM outbox')).rows).toEqual([{ status: 'dead' }]);
    } finally {
      await owner.end();
      await database.drop();
    }
  });
});

describe('the verification samples of build-hooks.md', () => {
  const secret = 'a secret of 16 characters';
  const body = '{"event":"rebuild","target":"organization:ä"}';
  const now = 1_795_305_600;
  const signature = `sha256=${signatureOf(secret, String(now), body)}`;
  const other = `sha256=${signatureOf('another secret', String(now), body)}`;
  /** A call, the second in which it arrives, and whether it is genuine. */
  const calls = [
    { timestamp: String(now), signature, body, at: now, genuine: true },
    { timestamp: String(now), signature, body, at: now + 299, genuine: true },
    { timestamp: String(now), signature, body, at: now + 301, genuine: false },
    { timestamp: String(now), signature, body: `${body} `, at: now, genuine: false },
    { timestamp: String(now + 1), signature, body, at: now, genuine: false },
    { timestamp: String(now), signature: signature.slice(0, -1), body, at: now, genuine: false },
    { timestamp: String(now), signature: '', body, at: now, genuine: false },
    {
      timestamp: 'soon',
      signature: `sha256=${createHmac('sha256', secret).update(`soon.${body}`).digest('hex')}`,
      body,
      at: now,
      genuine: false,
    },
    { timestamp: '', signature: 'sha256=ä', body, at: now, genuine: false },
    // While the secret is being replaced.
    { timestamp: String(now), signature: other, previous: signature, body, at: now, genuine: true },
    { timestamp: String(now), signature: other, previous: other, body, at: now, genuine: false },
    { timestamp: String(now), signature: other, previous: signature, body, at: now + 301, genuine: false },
  ];
  const genuine = calls.map((call) => call.genuine);

  let folder: string;
  beforeAll(() => (folder = mkdtempSync(join(tmpdir(), 'tutoring-samples-'))));
  afterAll(() => rmSync(folder, { recursive: true }));

  it('work in TypeScript', () => {
    const [sample] = blocks('docs/build-hooks.md', 'ts');
    const check = `
      for (const { timestamp, signature, previous, body, at } of ${JSON.stringify(calls)}) {
        const headers = new Map([['x-timestamp', timestamp], ['x-signature', signature], ['x-signature-previous', previous]]);
        console.log(isGenuine(${JSON.stringify(secret)}, { get: (name) => headers.get(name) ?? null } as Headers, body, at * 1000));
      }`;
    const compilerOptions = { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2023 };
    const { outputText } = ts.transpileModule(`${sample!}${check}`, { compilerOptions });
    writeFileSync(join(folder, 'sample.mjs'), outputText);
    const printed = execFileSync(process.execPath, [join(folder, 'sample.mjs')], { encoding: 'utf8' });
    expect(
      printed
        .trim()
        .split('\n')
        .map((line) => line === 'true'),
    ).toEqual(genuine);
  });

  it('work in Python, if it is installed', () => {
    const [sample] = blocks('docs/build-hooks.md', 'python');
    const check = [
      'import json, sys',
      'for call in json.load(sys.stdin):',
      '    headers = {"X-Timestamp": call["timestamp"], "X-Signature": call["signature"]}',
      '    headers |= {"X-Signature-Previous": call["previous"]} if "previous" in call else {}',
      `    print(is_genuine(${JSON.stringify(secret)}, headers, call["body"].encode(), call["at"]))`,
    ].join('\n');
    writeFileSync(join(folder, 'sample.py'), `${sample!}\n\n${check}\n`);
    const { error, stdout, stderr } = spawnSync('python3', [join(folder, 'sample.py')], { input: JSON.stringify(calls), encoding: 'utf8' });
    // The tests also run on machines without Python.
    if (error && 'code' in error && error.code === 'ENOENT') return;
    expect(stderr).toBe('');
    expect(
      stdout
        .trim()
        .split('\n')
        .map((line) => line === 'True'),
    ).toEqual(genuine);
  });
});

describe('the monitoring files', () => {
  it('name only existing metrics', async () => {
    const api = await TestApi.start();
    try {
      // Creates every series.
      await send(api, 'GET', '/v1/ping');
      const { text } = await send(api, 'GET', '/metrics');
      const known = new Set([...text.matchAll(/^# TYPE (\w+)/gm)].map(([, name]) => name!));
      known.add('up');
      const dashboard = JSON.parse(read('docs/monitoring/grafana.json')) as {
        panels: { targets: { expr: string }[] }[];
      };
      const expressions = [
        ...dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)),
        ...[...read('docs/monitoring/alerts.yml').matchAll(/expr: (?:\|\n)?([^]*?)\n +(?:for|labels):/g)].map(([, expr]) => expr!),
      ];
      expect(expressions.length).toBeGreaterThan(15);
      for (const expression of expressions) {
        const names = expression.match(/\b(up|(?:http|api|database|events|organization|outbox|rate_limit|process)_\w+)\b/g) ?? [];
        const unknown = names.map((name) => name.replace(/_(bucket|count|sum)$/, '')).filter((name) => !known.has(name));
        expect([expression, names.length > 0, unknown]).toEqual([expression, true, []]);
      }
      const described = [...read('docs/monitoring.md').matchAll(/`((?:http|api|database|events|organization|outbox|rate_limit)_\w+)`/g)];
      expect(described.map(([, name]) => name!).filter((name) => !known.has(name))).toEqual([]);
    } finally {
      await api.stop();
    }
  });
});

describe('deployment', () => {
  const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
  const programs = readdirSync(join(ROOT, 'apps')).filter((name) => name !== 'cli');

  it.each(programs)('every variant runs the %s', (program) => {
    const main = `dist/apps/${program}/src/main.js`;
    const unit = `tutoring-${program}`;
    const [, command] = /^ExecStart=\S+\/node (.*)$/m.exec(read(`docs/systemd/${unit}.service`))!;
    expect(command).toContain(main);
    expect(scripts[program === 'api' ? 'start:prod' : `start:${program}`]).toContain(`exec node ${command!}`);
    expect(read(`docs/systemd/${unit}.service`)).toContain(`EnvironmentFile=/etc/tutoring/${program}.env\n`);
    // Several of a kind: the same unit as a template, whose instances are ports.
    expect(read(`docs/systemd/${unit}.service`).includes('PORT=%i\n')).toBe(program !== 'worker');
    expect(read('docs/systemd.md')).toContain(`${unit}@`);
    expect(read('docs/systemd.md')).toContain(`/etc/tutoring/${program}.env\n`.replace('api.env\n', 'api.env '));
    for (const page of ['docs/systemd.md', 'docs/upgrade.md']) {
      expect(read(page)).toMatch(new RegExp(`systemctl .*\\b${unit}\\b`));
    }
    expect(read('docker-compose.yml')).toMatch(new RegExp(`^ {2}${program}:$`, 'm'));
    // The image runs the API by default.
    expect(program === 'api' ? read('Dockerfile') : read('docker-compose.yml')).toContain(main);
  });
});
