import { once } from 'node:events';
import { connect } from 'node:net';
import { ApiProcess, buildOnce } from '../../support/http/api-process.js';
import { bytesOf } from '../../support/http/raw-http.js';
import { TestSmtp } from '../../support/worker/smtp.js';
import { OutboxFixture } from '../../support/worker/worker.js';
import { fixture } from '../../support/process/fixture.js';

const KILLS = 2;

await buildOnce();
const smtp = await fixture(TestSmtp.start());
const room = await fixture(OutboxFixture.open({ SMTP_URL: smtp.url }));

/** Sends the form, and kills the portal at the first byte of its answer. @returns that answer's first line */
async function askAndKill(email: string): Promise<string> {
  const { ENCRYPTION_KEY, SMTP_URL } = room.settings;
  const settings = { PORTAL_DATABASE_URL: room.database.portalUrl, ENCRYPTION_KEY: ENCRYPTION_KEY!, SMTP_URL: SMTP_URL! };
  const portal = await ApiProcess.start(settings, [], 'portal');
  const body = `email=${encodeURIComponent(email)}`;
  const headers: [string, string][] = [
    ['Sec-Fetch-Site', 'same-origin'],
    ['Content-Type', 'application/x-www-form-urlencoded'],
    ['Content-Length', String(body.length)],
  ];
  const socket = connect(portal.port, '127.0.0.1').on('error', () => undefined);
  socket.write(bytesOf('/forgot-password', { method: 'POST', headers, body }));
  const [chunk] = (await once(socket, 'data')) as [Buffer];
  portal.signal('SIGKILL');
  expect(await portal.exit).toBe('SIGKILL');
  socket.destroy();
  return chunk.toString().split('\r\n')[0]!;
}

it('a requested link is mailed even if the portal is killed right after its answer', async () => {
  const people = await Promise.all(Array.from({ length: KILLS }, () => room.make.user()));
  for (const { email } of people) expect(await askAndKill(email)).toBe('HTTP/1.1 200 OK');
  expect(await askAndKill('unknown@example.org')).toBe('HTTP/1.1 200 OK');
  expect(smtp.asked).toEqual([]);
  await (await room.worker()).init();
  await smtp.taken(KILLS);
  await vi.waitFor(async () => expect(await room.make.query('SELECT FROM password_link_requests')).toEqual([]));
  expect(smtp.asked.sort()).toEqual(people.map(({ email }) => email).sort());
}); // prettier-ignore
