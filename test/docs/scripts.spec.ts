import { spawn } from 'node:child_process';
import { copyFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createTestDatabase, urlsOf } from '../support/database/database.js';
import { buildOnce } from '../support/http/api-process.js';
import { fixture } from '../support/process/fixture.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { scripts: Record<string, string> };

await buildOnce();
const database = await fixture(createTestDatabase());
const env = urlsOf(database);
const folder = mkdtempSync(join(tmpdir(), 'tutoring-scripts-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A run of a script: its arguments, what it prints, and its exit code if that is not 0. */
interface Run {
  args?: string[];
  says: RegExp;
  code?: number;
  cwd?: string;
  env?: Record<string, string>;
}

/** The specs of a name that nothing has: what the script starts has started, and has found nothing to run. */
const NO_SPECS = { args: ['no-such-spec', '--passWithNoTests'], says: /No test files found, exiting with code 0/ };
/** A program that has loaded all of it and misses its settings. */
const REFUSES: Run = { says: /^The configuration is invalid:.*DATABASE_URL is not set/s, code: 1 };

/** Where each script runs in CI or `npm test`: in that file, which says so, or here. */
const RUNS: Record<string, { in: string; as: string } | Run[]> = {
  build: { in: '.ci/run', as: 'npm run build' },
  start: { in: 'test/runtime.spec.ts', as: `spawn('npm', ['start'` },
  'start:dev': { in: '.ci/run', as: 'npm run start:dev' },
  'start:prod': [REFUSES],
  'start:worker': [REFUSES],
  'start:portal': [REFUSES],
  cli: [{ args: ['--help'], says: /^Usage: /m }],
  test: { in: '.ci/run', as: 'npm test' },
  'test:faults': [NO_SPECS],
  'test:watch': [{ ...NO_SPECS, args: ['--run', ...NO_SPECS.args] }],
  'test:cov': [NO_SPECS],
  lint: { in: '.ci/run', as: 'npm run lint' },
  format: [{ says: /^x\.json \d+ms$/m, cwd: folder }],
  typecheck: { in: '.ci/run', as: 'npm run typecheck' },
  bench: { in: '.ci/run', as: 'npm run bench -- --smoke\n' },
  readme: { in: 'test/docs/readme.spec.ts', as: 'scripts/readme-tour.js' },
  openapi: [{ args: [join(folder, 'openapi.json')], says: /^$/ }],
  // These run specs of `npm test`, which compare there what they write here.
  released: { in: 'test/api/contract/gate.spec.ts', as: 'RECORD_RELEASE' },
  configuration: { in: 'test/docs/configuration.spec.ts', as: 'npm run configuration' },
  resources: { in: 'test/docs/resources.spec.ts', as: 'npm run resources' },
  icons: { in: 'test/portal/pages/icons.spec.ts', as: 'npm run icons' },
  schema: { in: 'test/cli/import-format.spec.ts', as: 'npm run schema' },
  'migration:run': [{ says: /^The schema is up to date$/m, env }],
  'migration:revert': [{ args: ['--yes'], says: /^There is nothing to revert$/m, env }],
};

/** Runs a script as from a shell outside npm, with nothing of this process's environment. */
async function run(script: string, { args = [], cwd = ROOT, env = {} }: Run): Promise<{ code: number | null; output: string }> {
  const path = process.env.PATH!.split(delimiter).filter((it) => !it.includes('node_modules'));
  const options = { cwd, env: { PATH: path.join(delimiter), ...env } };
  const child = spawn('npm', ['run', '--silent', script, '--', ...args], { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { code, output };
}

describe('the scripts of package.json', () => {
  it('each run in CI or npm test, and what they name is there', () => {
    expect(Object.keys(RUNS).sort()).toEqual(Object.keys(scripts).sort());
    for (const [script, where] of Object.entries(RUNS)) {
      if ('in' in where) expect(readFileSync(join(ROOT, where.in), 'utf8'), script).toContain(where.as);
      for (const [file] of scripts[script]!.matchAll(/[\w/-]+(\.[\w-]+)*\/[\w./-]+\.(js|sh|ts|env|json)\b/g)) {
        expect(existsSync(join(ROOT, file)), `${script}: ${file}`).toBe(true);
      }
    }
  });

  it('are those that the pages tell to run', () => {
    const pages = ['.', 'docs', 'docs/decisions'].flatMap((at) =>
      readdirSync(join(ROOT, at)).flatMap((name) => (name.endsWith('.md') ? [join(at, name)] : [])),
    );
    const told = pages.flatMap((page) =>
      [...readFileSync(join(ROOT, page), 'utf8').matchAll(/npm run (?:--silent )?([\w:]+)/g)].map(([, name]) => `${page}: ${name}`),
    );
    expect(told.filter((it) => !(it.split(': ')[1]! in scripts))).toEqual([]);
    expect(told.length).toBeGreaterThan(50);
  });

  const here = Object.entries(RUNS).flatMap(([script, runs]) =>
    Array.isArray(runs) ? runs.map((it) => ({ name: [script, ...(it.args ?? [])].join(' '), script, it })) : [],
  );
  it.each(here)('run: $name', async ({ script, it }) => {
    // A checkout of one unformatted file.
    copyFileSync(join(ROOT, 'package.json'), join(folder, 'package.json'));
    if (!existsSync(join(folder, 'node_modules'))) symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
    writeFileSync(join(folder, 'x.json'), '{"a":  1}');
    const { code, output } = await run(script, it);
    expect(output).toMatch(it.says);
    expect(code, output).toBe(it.code ?? 0);
  });
});
