import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ApiProcess, buildOnce } from '../support/http/api-process.js';
import { runCli } from '../support/process/cli.js';
import { createTestDatabase } from '../support/database/database.js';
import { urlWith } from '../support/database/url-with.js';
import { WorkerProcess } from '../support/worker/worker-process.js';
import { fixture } from '../support/process/fixture.js';

const SECRET = 'never-to-be-shown';

await buildOnce();
const database = await fixture(createTestDatabase());

describe('a database that cannot be used', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'tutoring-faults-'));
  });
  afterAll(() => {
    rmSync(folder, { recursive: true });
  });

  // In a process of its own: no database of the server can be dropped until it ends or the server times out.
  it('does not keep a command running when the driver leaves its connection open, as without a password', async () => {
    const { hostname, port } = new URL(database.ownerUrl);
    // The server never closes its side.
    const server = createServer((client) => {
      const upstream = connect(Number(port), hostname);
      client.on('error', () => undefined).on('close', () => upstream.destroy()).pipe(upstream); // prettier-ignore
      upstream.on('error', () => undefined).pipe(client, { end: false });
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const at = String((server.address() as AddressInfo).port);
    try {
      const DATABASE_URL = urlWith(database.ownerUrl, { port: at, password: '' });
      const { code, stdout, stderr } = await runCli(['org', 'list'], { DATABASE_URL, DATA_DIR: folder });
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
      expect(stderr).toMatch(/^DATABASE_URL: the database at \S+ rejected the password of "\w+": [^\n]+\n$/);
    } finally {
      server.close();
    }
  });

  it('stops the API and the worker at once, with the same line', async () => {
    const DATABASE_URL = urlWith(database.applicationUrl, { password: SECRET });
    const starts = [
      ApiProcess.start({ DATABASE_URL, DATA_DIR: folder }),
      WorkerProcess.start({ DATABASE_URL, DATA_DIR: folder, ENCRYPTION_KEY: '0'.repeat(64) }),
    ];
    for (const ended of await Promise.allSettled(starts)) {
      const said = String((ended as PromiseRejectedResult).reason);
      expect(said).toMatch(/\nDATABASE_URL: the database at \S+ rejected the password of "tutoring_app": [^\n]+\n$/);
      expect(said).not.toContain(SECRET);
    }
  });
});
