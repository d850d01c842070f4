import { someOf } from '../../support/fuzz/hostile-client.js';
import { TestPortal } from '../../support/portal/portal.js';

const portal = await TestPortal.shared();
const { cookie } = await portal.someone('owner');

it.each([
  ['a repeated field', 'email=a&email=b&password=c'],
  ['a NUL', 'email=a%00b&password=c'],
  ['half a surrogate pair', 'email=%ED%A0%80&password=c'],
  ['a thousand fields', Array.from({ length: 1_000 }, (_, index) => `f${index}=1`).join('&')],
  ['prototype names', '__proto__[a]=1&constructor=2&email=&password='],
])('a form with %s is refused without a 5xx', async (_what, body) => {
  const answer = await portal.post('/sign-in').send(body);
  expect([400, 413, 422]).toContain(answer.status);
});

const BROKEN = ['%FF', '%C3', '%ED%A0%80', '%', '%zz', '\xff'].map((text, number) => [text, number] as const);

it.each(BROKEN)('%j, which is not UTF-8, is refused by every form', async (text, number) => {
  const forms = portal.routes().filter(({ method, access }) => method !== 'GET' && access !== 'probe');
  for (const { method, path } of someOf(forms, number, BROKEN.length, 10)) {
    for (const body of [`email=${text}`, `${text}=a`]) {
      const answer = await fetch(`${portal.url}${path}`, {
        method,
        headers: { 'Sec-Fetch-Site': 'same-origin', Cookie: cookie, 'Content-Type': 'application/x-www-form-urlencoded' },
        body: Buffer.from(body, 'latin1'),
      });
      expect([path, answer.status]).toEqual([path, 400]);
      expect(await answer.text()).toContain('This form cannot be read');
    }
  }
});

it('a body that is too long or has another content type is refused', async () => {
  expect((await portal.post('/sign-in', { email: 'a'.repeat(40_000) })).status).toBe(413);
  const json = await portal.post('/sign-in').type('json').send('{"email":');
  expect(json.status).toBe(400);
  expect((await portal.post('/sign-in').type('text/plain').send('email=a')).status).toBe(422);
});
