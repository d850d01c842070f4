import { mkdtempSync, rmSync } from 'node:fs';
import { connect, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { v7 as uuidv7 } from 'uuid';
import { type Scope, SCOPES } from '@app/access';
import { Database } from '@app/database';
import { RequestTurn } from '@app/serving';
import { nameOf as nameOfUse } from '../../../apps/api/src/http/writes/idempotency.store.js';
import { createFixtures } from '../../support/data/fixtures.js';
import { connectPatiently } from '../../support/database/patient-connection.js';
import { waitsFor } from '../../support/database/lock-waits.js';
import { TestApi } from '../../support/http/api.js';
import { encoded, validWrites, type ValidWrite, writesOf } from '../../support/http/record-for.js';
import { bytesOf } from '../../support/http/raw-http.js';
import { fixture } from '../../support/process/fixture.js';

const dataDir = mkdtempSync(join(tmpdir(), 'tutoring-writes-'));
afterAll(() => rmSync(dataDir, { recursive: true }));
const api = await fixture(TestApi.start({ DATA_DIR: dataDir, SMTP_URL: 'smtp://127.0.0.1:9' }));
const fixtures = await createFixtures(api);
const { make, a: school } = fixtures;
const key = await api.key(school.id, { scopes: Object.keys(SCOPES) as Scope[], platformBlog: true });
const lock = await connectPatiently({ url: api.database.ownerUrl, poolSize: 1, applicationName: 'lock' });
afterAll(() => lock.destroy());
const { port } = api.server.address() as AddressInfo;
const writes = () => validWrites(writesOf(api), make, school, 1);

async function ask(write: ValidWrite, headers: Record<string, string>) {
  const { type, bytes } = await encoded(write);
  const response = await fetch(`http://127.0.0.1:${port}${write.path}`, {
    method: write.route.method,
    headers: { Authorization: `Token token=${key}`, ...(bytes && { 'Content-Type': type }), ...headers },
    body: bytes,
  });
  const told = ['content-type', 'etag', 'idempotency-replayed', 'retry-after'].map((name) => response.headers.get(name));
  return { status: response.status, text: await response.text(), told };
}

describe('every write of the route table', () => {
  it('honours an Idempotency-Key: done once, replayed byte for byte, 422 for another request, 409 while in use', async () => {
    const wrong: string[] = [];
    const mismatched = new Map<string, Promise<{ status: number; text: string }>>();
    for (const write of await writes()) {
      const name = `${write.operation} ${JSON.stringify(write.body)}`;
      const once = { 'Idempotency-Key': uuidv7() };
      const [first, again] = [await ask(write, once), await ask(write, once)];
      const [type, etag] = first.told;
      if (first.status >= 300) wrong.push(`${name}: ${first.status} ${first.text}`);
      const replayed = { ...first, told: [type, etag, 'true', null] };
      if (JSON.stringify(again) !== JSON.stringify(replayed)) wrong.push(`${name}: ${JSON.stringify(first)}, then ${JSON.stringify(again)}`);
      await make.query(`UPDATE idempotency_keys SET request_hash = sha256('other') WHERE key = $1`, [once['Idempotency-Key']]);
      mismatched.set(name, ask(write, once));
    }
    for (const [name, answer] of mismatched) {
      const { status, text } = await answer;
      if (status !== 422 || !text.includes('"loc":["header","idempotency-key"]') || !text.includes('a new value with each new request')) {
        wrong.push(`${name}, other request: ${status} ${text}`);
      }
    }
    expect(wrong).toEqual([]);
  });

  it('is a 409 with Retry-After while the first request with its key is running', async () => {
    const held = 'held';
    const samples = (await writes()).filter(({ operation }, index, all) => all.findIndex((one) => one.operation === operation) === index);
    const names = samples.map(({ route, path }) => {
      return nameOfUse({ organizationId: school.id, operation: `${route.method} ${path.split('?')[0]}`, key: held, requestHash: Buffer.alloc(0) });
    });
    const answers = await api.app.get(Database).transaction({ organizationId: school.id }, async () => {
      await api.app.get(Database).lock(...names);
      return Promise.all(samples.map((write) => ask(write, { 'Idempotency-Key': held })));
    });
    expect(answers.map(({ status, told }, index) => [samples[index]!.operation, status, told[3]])).toEqual(
      samples.map(({ operation }) => [operation, 409, '1']),
    );
  });

  it('is replayed before If-Match is compared', async () => {
    const post = await make.post(school.id);
    const [patch] = (await writes()).filter(({ operation }) => operation === 'PATCH /v1/blog-posts/:post_id');
    const write = { ...patch!, path: `/v1/blog-posts/${post.id}` };
    const { headers } = await api.get(write.path, key);
    const once = { 'Idempotency-Key': uuidv7(), 'If-Match': headers.etag as string };
    const [first, again] = [await ask(write, once), await ask(write, once)];
    expect([first.status, again.status, again.text, again.told[1]]).toEqual([200, 200, first.text, first.told[1]]);
    expect((await ask({ ...write, body: { title: 'Else' } }, { 'If-Match': once['If-Match'] })).status).toBe(412);
  });

  /** Sends the write, and leaves when its work is done but not committed. @returns whether it was committed */
  async function leaving(write: ValidWrite, headers: [string, string][]): Promise<boolean> {
    const { type, bytes } = await encoded(write);
    const id = uuidv7();
    const sent: [string, string][] = [['Authorization', `Token token=${key}`], ['X-Request-Id', id], ['Content-Type', type], ...headers];
    const length: [string, string][] = bytes ? [['Content-Length', String(bytes.length)]] : [];
    const socket = connect(port, '127.0.0.1');
    // The audit row is the last statement of a write.
    await lock.query('BEGIN; LOCK TABLE audit_log IN SHARE MODE');
    try {
      socket.write(bytesOf(write.path, { method: write.route.method, headers: [...sent, ...length] }));
      if (bytes) socket.write(bytes);
      await vi.waitFor(async () => expect(await make.query(waitsFor('audit_log')), write.operation).toHaveLength(1), { interval: 5 });
      socket.destroy();
    } finally {
      await lock.query('COMMIT');
    }
    await vi.waitFor(
      () => {
        const { total, idle, waiting } = api.app.get(Database).poolState;
        expect([idle, waiting]).toEqual([total, 0]);
      },
      { interval: 5 },
    );
    return (await make.query('SELECT FROM audit_log WHERE request_id = $1', [id])).length > 0;
  }

  it('is undone if its client leaves before COMMIT, unless it is a POST or has a key', async () => {
    // Those who leave use up their organization's turns for ten seconds.
    vi.spyOn(RequestTurn.prototype, 'end').mockImplementation(function (this: RequestTurn) {
      this.release();
    });
    const wrong: string[] = [];
    for (const [index, valid] of (await writes()).entries()) {
      // Posts of the tests before have their slugs.
      const write = valid.body && 'slug' in valid.body ? { ...valid, body: { ...valid.body, slug: uuidv7() } } : valid;
      const { method } = write.route;
      if (method === 'POST' && index % 6 > 1) continue;
      const keyed = index % 2 === 0;
      const kept = await leaving(write, keyed ? [['Idempotency-Key', uuidv7()]] : []);
      if (kept !== (keyed || method === 'POST')) wrong.push(`${write.operation}${keyed ? ' with a key' : ''}: ${kept ? 'kept' : 'undone'}`);
      if (!kept) {
        const { status, text } = await ask(write, {});
        expect(status, `${write.operation}: ${text}`).toBeLessThan(300);
      }
      if (!keyed || method === 'POST') continue;
      const [again] = await validWrites([write.route], make, school);
      if (await leaving(again!, [])) wrong.push(`${write.operation}: kept`);
    }
    expect(wrong).toEqual([]);
  });
});
