import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { inject } from 'vitest';
import { buildOnce } from '../../support/http/api-process.js';
import { createTestDatabase } from '../../support/database/database.js';
import { fixture } from '../../support/process/fixture.js';

const MAIN = fileURLToPath(new URL('../../../dist/apps/api/src/main.js', import.meta.url));

await buildOnce();
const database = await fixture(createTestDatabase());

describe('a log that cannot be written', () => {
  it('does not stop the process: the API answers and shuts down normally', async () => {
    const full = openSync('/dev/full', 'w');
    const api = spawn(process.execPath, [MAIN], {
      cwd: inject('scratch'),
      env: {
        PATH: process.env.PATH,
        NODE_ENV: 'production',
        APP_URL: 'https://portal.example',
        HOST: '127.0.0.1',
        PORT: '0',
        ENCRYPTION_KEY: 'ab'.repeat(32),
        SHUTDOWN_DELAY_SECONDS: '0',
        DATABASE_URL: database.applicationUrl,
      },
      stdio: ['ignore', full, 'pipe', 'ipc'],
    });
    closeSync(full);
    const exited = once(api, 'exit');
    let stderr = '';
    api.stderr!.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
    try {
      const [{ listening }] = (await once(api, 'message')) as [{ listening: number }];
      // Enough lines to fill the log buffer several times over.
      for (let round = 0; round < 100; round++) {
        expect((await fetch(`http://127.0.0.1:${listening}/health/live`)).status).toBe(200);
      }
      expect(api.exitCode).toBeNull();
    } finally {
      api.kill('SIGTERM');
    }
    const [code, signal] = (await exited) as [number | null, string | null];
    expect([code ?? signal, stderr]).toEqual([expect.toSatisfy((how) => how === 0 || how === 'SIGTERM'), '']);
  });

  it('does not keep a process whose reader is gone when it writes its last lines', async () => {
    const log = new URL('../../../dist/libs/logging/src/log.js', import.meta.url).href;
    const program = `
      import { Log } from '${log}';
      const log = new Log({ get: () => 'info' });
      process.once('message', () => {
        log.log('the last line');
        process.exit();
      });
      process.send('ready');`;
    const child = spawn(process.execPath, ['--input-type=module', '--eval', program], { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] });
    onTestFinished(() => void child.kill('SIGKILL'));
    await once(child, 'message');
    child.stdout!.destroy();
    await once(child.stdout!, 'close');
    child.send('end');
    expect(await once(child, 'exit')).toEqual([0, null]);
  });
});
