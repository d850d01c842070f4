import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CURL, findServer } from '../support/process/server-binary.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Runs the calls of the pages against their own service. */
function callAll(...pages: string[]): Promise<{ code: unknown; output: string }> {
  const curl = findServer(CURL);
  const env = { ...process.env, ...curl.env, PATH: `${process.env.PATH}:${dirname(curl.program)}` };
  return new Promise((resolve) => {
    execFile(process.execPath, ['scripts/readme-tour.js', ...pages], { cwd: ROOT, env }, (error, stdout, stderr) => {
      resolve({ code: error ? error.code : 0, output: stdout + stderr });
    });
  });
}

describe('the calls of the README and of the pages to paste from', () => {
  it('show the answers of the service, and a wrong one is detected', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'tutoring-tour-'));
    try {
      const tour = readFileSync(join(ROOT, 'docs/tour.md'), 'utf8');
      const before = tour.split('"status":405')[0]!;
      expect(before).not.toBe(tour);
      const line = before.slice(0, before.lastIndexOf('```json')).split('\n').length;
      const page = join(folder, 'tour.md');
      writeFileSync(page, tour.replace('"status":405', '"status":400'));
      const { code, output } = await callAll(
        ...['README.md', page, 'docs/term.md', 'docs/events.md', 'docs/webhooks.md'].map((name) => resolve(ROOT, name)),
      );
      // Only the planted fault. If this fails, run npm run readme.
      expect(output.match(/^\S+, line \d+/gm)).toEqual([`${page}, line ${line}`]);
      expect(output).toContain('"status":405');
      expect(code).toBe(1);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
