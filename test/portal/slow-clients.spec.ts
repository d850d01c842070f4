import { connect } from 'node:net';
import { SLOW_CLIENT_LIMITS } from '@app/serving';
import { bytesOf } from '../support/http/raw-http.js';
import { TestPortal } from '../support/portal/portal.js';
import { fixture } from '../support/process/fixture.js';

/** Slow clients of every kind, with short limits. `test/faults/portal-slow-clients.spec.ts` has the real limits. */
const LIMITS = { ...SLOW_CLIENT_LIMITS, headers: 500, body: 1_000, upload: 60_000, check: 100 };

const portal = await fixture(TestPortal.start({}, undefined, LIMITS));

/** Sends a byte every 50 ms until the server closes the connection. @returns the answer */
async function drip(bytes: string): Promise<string> {
  const socket = connect(portal.port, '127.0.0.1').on('error', () => undefined);
  let text = '';
  socket.setEncoding('latin1').on('data', (part: string) => (text += part));
  socket.write(bytes);
  const drops = setInterval(() => socket.write('-'), 50);
  await new Promise((resolve) => socket.once('close', resolve));
  clearInterval(drops);
  return text;
}

it('cuts off slow headers and slow forms on every route, with a page that says so', async () => {
  const forms = portal.routes().filter(({ method }) => method !== 'GET');
  const types = ['application/x-www-form-urlencoded', 'application/json'];
  const halves = forms.map(({ method, path }, index) =>
    bytesOf(path.replaceAll(/:[^/]+/g, 'x'), {
      method,
      headers: [
        ['Sec-Fetch-Site', 'same-origin'],
        ['Content-Type', types[index % 2]!],
        ['Content-Length', '1000'],
      ],
      body: 'email=',
    }),
  );
  const answers = await Promise.all(['GET /sign-in HTTP/1.1\r\nHost: a\r\nX-A: ', ...halves].map(drip));
  for (const [index, answer] of answers.entries()) {
    expect([forms[index - 1]?.path, answer.slice(0, 12)]).toEqual([forms[index - 1]?.path, 'HTTP/1.1 408']);
    expect(answer).toMatch(/\r\nContent-Type: text\/html.*This took too long.*<\/html>\s*$/s);
    expect(answer).toMatch(/^content-security-policy: default-src 'none'/im);
    expect(answer.match(/HTTP\/1\.1 /g)).toHaveLength(1);
  }
});

it('refuses a cross-site form without waiting for its body', async () => {
  const answer = await drip(
    bytesOf('/sign-in', { method: 'POST', headers: [['Content-Type', 'application/x-www-form-urlencoded'], ['Content-Length', '1000']] }), // prettier-ignore
  );
  expect(answer).toMatch(/^HTTP\/1\.1 403 .*This form was not sent from here/s);
});

it('logs each client that was cut off, and nothing of what it sent', async () => {
  await drip('GET /join/secret-of-a-link HTTP/1.1\r\nHost: a\r\nCookie: session=secret-of-a-session');
  await vi.waitFor(() => expect(portal.logged.join('')).toContain('"fault":"ERR_HTTP_REQUEST_TIMEOUT"'));
  expect(portal.logged.join('')).not.toMatch(/secret-of/);
});
