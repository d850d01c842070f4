import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CURL, findServer } from '../support/process/server-binary.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Runs the tour of a page against its own service. */
function typeTour(page: string): Promise<{ code: unknown; output: string }> {
  const curl = findServer(CURL);
  const env = { ...process.env, ...curl.env, PATH: `${process.env.PATH}:${dirname(curl.program)}` };
  return new Promise((resolve) => {
    execFile(process.execPath, ['scripts/readme-tour.js', page], { cwd: ROOT, env }, (error, stdout, stderr) => {
      resolve({ code: error ? error.code : 0, output: stdout + stderr });
    });
  });
}

describe('the tour of the README', () => {
  it('shows the answers of the service, and a wrong one is detected', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'tutoring-tour-'));
    try {
      const readme = readFileSync(join(ROOT, 'README.md'), 'utf8');
      const before = readme.split('"status":405')[0]!;
      expect(before).not.toBe(readme);
      const line = before.slice(0, before.lastIndexOf('```json')).split('\n').length;
      const page = join(folder, 'README.md');
      writeFileSync(page, readme.replace('"status":405', '"status":400'));
      const { code, output } = await typeTour(page);
      // Only the planted fault. If this fails, run npm run readme.
      expect(output.match(/^\S+, line \d+/gm)).toEqual([`${page}, line ${line}`]);
      expect(output).toContain('"status":405');
      expect(code).toBe(1);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
