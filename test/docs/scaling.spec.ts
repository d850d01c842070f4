import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CLI, results } from '../support/process/cli.js';
import { compiled } from '../support/process/processes.js';

const folder = await mkdtemp(join(tmpdir(), 'tutoring-cells-'));
afterAll(() => rm(folder, { recursive: true, force: true }));

/** What docs/scaling.md tells to try on one machine. */
const guide = await readFile(new URL('../../docs/scaling.md', import.meta.url), 'utf8');
const commands = guide.split('### Try it on one machine')[1]!.match(/```sh\n([^]*?)```/)![1]!;

/** Runs a script in the folder, where `npm run` is this build's command line. */
async function shell(script: string): Promise<string> {
  const child = spawn('bash', ['-euo', 'pipefail', '-c', script], {
    cwd: folder,
    env: { ...compiled(), PATH: `${join(folder, 'bin')}:${process.env.PATH}`, HOME: folder, PGHOST: '' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const said: string[] = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => said.push(chunk.toString()));
  const [code] = (await once(child, 'close')) as [number];
  expect(said.join(''), script).toSatisfy(() => code === 0);
  return said.join('');
}

it('an organization is exported, imported, compared, moved, and somebody in it erased, as docs/scaling.md says', { timeout: 300_000 }, async () => {
  await mkdir(join(folder, 'bin'));
  await writeFile(join(folder, 'bin', 'npm'), `#!/bin/sh\nshift 4\nexec ${process.execPath} ${CLI} "$@"\n`);
  await chmod(join(folder, 'bin', 'npm'), 0o755);
  const cli = 'npm run --silent cli -- --json';
  await shell(`${cli} demo --size 30`);
  await shell(`${cli} key create --org wattle-lane --name moves > key.json`);
  const students = await shell(`${cli} export looked-at --org wattle-lane > /dev/null; cat looked-at/users.ndjson looked-at/members.ndjson`);
  const rows = results(students);
  const student = rows.find(({ role, status }) => role === 'student' && status === 'accepted')!;
  const { email } = rows.find(({ id }) => id === student.user_id)!;
  const said = await shell(commands.replaceAll('<address>', String(email)));
  expect(said).not.toMatch(/differ/);
  expect(said).toMatch(/"wattle-lane" lives in the other installation now/);
  expect(said).toMatch(/was erased from "wattle-lane"/);
  const { organizations } = { organizations: results(await shell(`env $(cat second.env) ${cli} org list`)) };
  expect(organizations.map(({ slug }) => slug)).toContain('wattle-lane');
  await shell(`! ${cli} move wattle-lane --to-env second.env 2> refused; grep -q resume refused`);
});
