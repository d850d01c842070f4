import { once } from 'node:events';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { AnswerCheck } from '../../support/http/answer-check.js';
import { TestApi } from '../../support/http/api.js';
import { bytesOf, exchange, type RawAnswer } from '../../support/http/raw-http.js';
import { fixture } from '../../support/process/fixture.js';

const check = new AnswerCheck();

const api = await fixture(TestApi.start());
const { make } = api;
const { id } = await make.organization();
const key = await api.key(id, { scopes: ['accounts:write'] });
const readOnly = await api.key(id);

const GOOD = '{"scope":"organization"}';
const port = () => (api.server.address() as AddressInfo).port;
const invites = async () => (await make.query<{ n: number }>('SELECT count(*)::int AS n FROM invites'))[0]!.n;

function bytes(headers: [string, string][], body = '', as = key): string {
  const all: [string, string][] = [['Authorization', `Token token=${as}`], ['Content-Type', 'application/json'], ...headers];
  return bytesOf('/v1/invites', { method: 'POST', headers: all, body });
}

async function ask(headers: [string, string][], body = '', as = key): Promise<RawAnswer> {
  const answer = await exchange(port(), bytes(headers, body, as));
  expect(answer.status).toBeLessThan(500);
  if (answer.status > 0) expect(check.faults(answer)).toEqual([]);
  return answer;
}

/** Runs the work and returns how many invites it created. */
async function effectsOf(work: () => Promise<unknown>): Promise<number> {
  const before = await invites();
  await work();
  return (await invites()) - before;
}

describe('Expect: 100-continue', () => {
  const expectation: [string, string] = ['Expect', '100-continue'];

  it('asks for the body once, and answers the request', async () => {
    const socket = connect(port(), '127.0.0.1');
    const said = reading(socket);
    socket.write(bytes([expectation, ['Content-Length', String(GOOD.length)]]));
    await until(() => said.text.includes('\r\n\r\n'));
    expect(said.text).toBe('HTTP/1.1 100 Continue\r\n\r\n');
    socket.write(GOOD);
    await once(socket, 'close');
    expect(said.text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 100', 'HTTP/1.1 201']);
  });

  it('does not parse the body of a refused request as a request', async () => {
    const smuggled = bytes([['Content-Length', String(GOOD.length)]], GOOD);
    const answer = await exchange(port(), bytes([expectation, ['Content-Length', String(smuggled.length)]], smuggled, readOnly));
    expect([answer.status, answer.answers]).toEqual([403, 1]);
  });
});

describe('body length', () => {
  it('has no effect when the connection ends before the announced length', async () => {
    const effects = await effectsOf(async () => {
      for (let i = 0; i < 10; i++) {
        const socket = connect(port(), '127.0.0.1');
        socket.on('error', () => undefined);
        socket.resume();
        socket.end(bytes([['Content-Length', '100']], GOOD));
        await once(socket, 'close');
      }
    });
    expect(effects).toBe(0);
  });

  it('returns a single answer when the body is longer than announced', async () => {
    for (const told of [10, GOOD.length]) {
      const before = await invites();
      const answer = await ask([['Content-Length', String(told)]], `${GOOD}{"and":"more"}`);
      expect([400, told === 10 ? 422 : 201]).toContain(answer.status);
      expect(answer.answers).toBe(1);
      if (told === 10) continue;
      // The extra bytes are refused, which closes the connection. The request may already be running then, and its
      // client never learns. If it has not started by its deadline, it never does.
      const carriedOut = vi.waitFor(async () => expect(await invites()).toBe(before + 1), 7_000);
      if (answer.status === 201) await carriedOut;
      else await carriedOut.catch(async () => expect(await invites()).toBe(before));
    }
  });

  it.each(['gzip, chunked', 'identity, chunked', 'chunked, chunked', 'x, chunked', 'gzip', 'identity'])(
    'refuses the transfer coding %s',
    async (coding) => {
      const body = `${GOOD.length.toString(16)}\r\n${GOOD}\r\n0\r\n\r\n`;
      const effects = await effectsOf(async () => {
        expect([400, 415]).toContain((await ask([['Transfer-Encoding', coding]], body)).status);
      });
      expect(effects).toBe(0);
    },
  );

  it.each([
    ['in one chunk', `${GOOD.length.toString(16)}\r\n${GOOD}\r\n0\r\n\r\n`, 201],
    ['byte by byte', `${Array.from(GOOD, (one) => `1\r\n${one}\r\n`).join('')}0\r\n\r\n`, 201],
    ['with extensions and trailers', `${GOOD.length.toString(16)};a=b\r\n${GOOD}\r\n0\r\nX-Later: 1\r\n\r\n`, 201],
    ['with a wrong size', `5\r\n${GOOD}\r\n0\r\n\r\n`, 400],
    ['without a size', `\r\n${GOOD}\r\n0\r\n\r\n`, 400],
    ['with a negative size', `-1\r\n${GOOD}\r\n0\r\n\r\n`, 400],
    ['with no content', '0\r\n\r\n', 422],
  ])('answers a chunked body %s', async (_what, body, status) => {
    const effects = await effectsOf(async () => {
      expect((await ask([['Transfer-Encoding', 'chunked']], body)).status).toBe(status);
    });
    expect(effects).toBe(status === 201 ? 1 : 0);
  });

  it('returns 413 as soon as endless chunks exceed the limit', async () => {
    const chunk = `10000\r\n${' '.repeat(65_536)}\r\n`;
    const answer = await ask([['Transfer-Encoding', 'chunked']], chunk.repeat(40));
    expect(answer.status).toBe(413);
  });
});

describe('slow bodies', () => {
  it('are cut off with 408 after the deadline, hold no database connection and have no effect', async () => {
    const { requestTimeout, headersTimeout } = api.server;
    // Node takes the longer of the two for the whole request.
    Object.assign(api.server, { requestTimeout: 1_000, headersTimeout: 1_000 });
    const effects = await effectsOf(async () => {
      const sockets = Array.from({ length: 20 }, () => {
        const socket = connect(port(), '127.0.0.1');
        const said = reading(socket);
        socket.write(bytes([['Content-Length', '1000']], '{'));
        return { said, closed: once(socket, 'close') };
      });
      const others = await Promise.all(Array.from({ length: 10 }, () => api.get('/v1/ping', readOnly)));
      expect(others.map(({ status }) => status)).toEqual(others.map(() => 200));
      await Promise.all(sockets.map(({ closed }) => closed));
      for (const { said } of sockets) {
        expect(said.text).toMatch(/^HTTP\/1\.1 408 /);
        expect(said.text.match(/HTTP\/1\.1 /g)).toHaveLength(1);
      }
    });
    Object.assign(api.server, { requestTimeout, headersTimeout });
    expect(effects).toBe(0);
  });
});

it('uses the last of two members with the same name, everywhere', async () => {
  const twice = async (body: string) => await ask([['Content-Length', String(body.length)]], body);
  expect((await twice('{"scope":"nonsense","scope":"organization"}')).status).toBe(201);
  expect((await twice('{"scope":"organization","scope":"nonsense"}')).status).toBe(422);
  expect((await twice('{"scope":"organization","role":"admin","role":"student"}')).body).toContain('"role":"student"');
  expect((await twice('{"scope":"organization","sco\\u0070e":"parent"}')).status).toBe(422);
});

function reading(socket: Socket): { text: string } {
  const said = { text: '' };
  socket.on('data', (chunk) => (said.text += chunk.toString('latin1')));
  socket.on('error', () => undefined);
  return said;
}

async function until(condition: () => boolean): Promise<void> {
  await vi.waitUntil(condition, { interval: 10 });
}
