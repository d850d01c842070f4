import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { buildOnce } from './support/http/api-process.js';
import { createTestDatabase, type TestDatabase, urlsOf } from './support/database/database.js';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const { engines, optionalDependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  engines: { node: string };
  optionalDependencies: Record<string, string>;
};

/** The version in package.json for this platform, or the machine's own if npm did not install it. */
function expectedVersion(): string {
  const platform = `${process.platform}-${process.arch}`;
  const name = [`node-${platform}`, `node-bin-${platform}`].find((candidate) => candidate in optionalDependencies);
  const installed = name !== undefined && existsSync(join(ROOT, 'node_modules', name));
  return installed ? `v${optionalDependencies[name]}` : process.version;
}

/** The PATH of a shell outside npm. */
const path = (process.env.PATH ?? '').split(delimiter).filter((folder) => !folder.includes('node_modules'));

/** `npm start` in a shell outside npm. In a process group of its own, since npm does not wait for what it has started. */
function npmStart(cwd: string, settings: Record<string, string>) {
  const env = { PATH: path.join(delimiter), ...settings };
  const child = spawn('npm', ['start', '--silent'], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  const service = {
    output: '',
    /** The exit code, after the last process has closed its output. */
    closed: new Promise<number | null>((resolve) => child.once('close', resolve)),
    stop: () => {
      // A closed output means that all of it has ended.
      if (!child.stdout.closed) process.kill(-child.pid!, 'SIGTERM');
    },
  };
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => (service.output += chunk.toString()));
  }
  return service;
}

/** Runs a script on this Node, which takes itself for another version. */
function runAs(version: string, ...script: string[]) {
  const disguise = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${version}' } })`;
  const flags = ['--import', `data:text/javascript,${encodeURIComponent(disguise)}`];
  const { status, stdout, stderr } = spawnSync(process.execPath, [...flags, ...script], { cwd: ROOT, encoding: 'utf8' });
  return [status, stdout, stderr];
}

describe('a Node of your own', () => {
  it('must be as new as the README and package.json say, or is refused in one sentence', () => {
    expect(runAs('22.0.0', 'scripts/check-node.js')).toEqual([0, '', '']);
    const refusal = /^A Node of your own must be 22 or later, and this is 21\.9\.0: [^\n]+\n$/;
    for (const script of [['scripts/run.js', 'start'], ['scripts/build-if-stale.js']]) {
      expect(runAs('21.9.0', ...script)).toEqual([1, '', expect.stringMatching(refusal)]);
    }
    expect(engines.node).toBe('>=22');
    expect(readFileSync(join(ROOT, 'README.md'), 'utf8')).toContain('a Node of your own must be 22 or later');
  });
});

describe('the runtime', () => {
  let database: TestDatabase;
  let folder: string;
  beforeAll(async () => {
    await buildOnce();
    database = await createTestDatabase();
    folder = mkdtempSync(join(tmpdir(), 'tutoring-runtime-'));
  });
  afterAll(async () => {
    rmSync(folder, { recursive: true, force: true });
    await database.drop();
  });

  it('of the tests is the bundled Node', () => {
    expect(process.version).toBe(expectedVersion());
  });

  it('of npm start is the bundled Node, whatever the PATH', async () => {
    const service = npmStart(ROOT, { ...urlsOf(database), DATA_DIR: folder, PORT: '0' });
    try {
      await vi.waitFor(() => expect(service.output).toContain('Ready in'), { timeout: 120_000, interval: 50 });
      const base = /Tutoring API +(\S+)/.exec(service.output)![1]!;
      const metrics = await (await fetch(`${base}/metrics`)).text();
      expect(/nodejs_version_info{version="([^"]+)"/.exec(metrics)?.[1]).toBe(expectedVersion());
    } finally {
      service.stop();
      await service.closed;
    }
  });

  it('is checked by npm start, which reports a Node that cannot run here in one line', async () => {
    const checkout = join(folder, 'checkout');
    const bin = join(checkout, 'node_modules', '.bin');
    mkdirSync(bin, { recursive: true });
    for (const name of ['package.json', 'scripts']) cpSync(join(ROOT, name), join(checkout, name), { recursive: true });
    // A program whose loader is missing, as glibc's is on Alpine.
    writeFileSync(join(bin, 'node'), '#!/lib/no-such-loader\n');
    chmodSync(join(bin, 'node'), 0o755);
    const service = npmStart(checkout, {});
    expect(await service.closed).toBe(1);
    expect(service.output).toMatch(/^The Node that npm installed does not run.*rm node_modules\/\.bin\/node\n$/);
  });
});
