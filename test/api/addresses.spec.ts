import { isEmail } from '@app/accounts';
import { readEmail } from '../../apps/cli/src/import/values.js';
import { TestApi } from '../support/http/api.js';
import { Factories } from '../support/data/factories.js';
import { MALFORMED_ADDRESSES, newAddress, Office, studentRow } from '../support/data/provisioning.js';

let api: TestApi;
let make: Factories;
let office: Office;

beforeAll(async () => {
  api = await TestApi.start({ SMTP_URL: 'smtp://127.0.0.1:1' });
  make = await Factories.connect(api.database);
  office = await Office.open(api, make);
});

afterAll(async () => {
  await make.close();
  await api.stop();
});

const named = { first_name: 'Mia', last_name: 'Nguyen' };

describe('an address that nobody can have', () => {
  let accepted: string;
  let pending: string;
  let classroom: string;

  beforeAll(async () => {
    const [email, other] = [newAddress(), await Office.open(api, make)];
    await other.inviteOne(studentRow({ email }));
    accepted = (await office.inviteOne(studentRow())).id!;
    pending = (await office.inviteOne(studentRow({ email }))).id!;
    classroom = (await make.classroom(office.id)).id;
  });

  it.each(MALFORMED_ADDRESSES)('is %j, wherever a request takes one', async (email) => {
    const before = await logins();
    const requests: ['post' | 'patch', string, object, string][] = [
      ['post', '/v1/students', { ...named, email }, 'body.email'],
      ['post', '/v1/students', { ...named, parent: { ...named, email } }, 'body.parent.email'],
      ['post', '/v1/tutors', { ...named, email }, 'body.email'],
      ['post', '/v1/parents', { ...named, email }, 'body.email'],
      ['patch', `/v1/students/${accepted}`, { email }, 'body.email'],
      ['patch', `/v1/students/${pending}`, { email }, 'body.email'],
      ['post', '/v1/invites', { scope: 'organization', email }, 'body.email'],
      ['post', '/v1/invites', { scope: 'organization', role: 'admin', email }, 'body.email'],
      ['post', '/v1/invites', { scope: 'classroom', classroom_id: classroom, email }, 'body.email'],
      ['post', '/v1/invites', { scope: 'parent', student_id: accepted, email }, 'body.email'],
    ];
    for (const [method, path, body, place] of requests) {
      const { status, body: answer } = await office.send(method, path, body);
      expect([path, status], JSON.stringify(body)).toEqual([path, 422]);
      const { detail } = answer as { detail: { loc: string[] }[] };
      expect(detail.map(({ loc }) => loc.join('.'))).toEqual([place]);
    }
    expect(await logins()).toEqual(before);
  });

  it.each(MALFORMED_ADDRESSES)('is %j to pages, commands and imports too', (email) => {
    expect(isEmail(email)).toBe(false);
    // An import brings placeholders along.
    if (!/invalid$/i.test(email)) expect(readEmail(email)).not.toBe(email.trim());
  });

  const logins = () => make.query('SELECT id, email FROM users ORDER BY id');
});
