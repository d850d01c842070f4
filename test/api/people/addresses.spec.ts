import { loadEnv } from '@app/config';
import { isEmail } from '@app/people';
import { normalizeEmail } from '@app/database';
import { readEmail } from '../../../apps/cli/src/import/values.js';
import { TestApi } from '../../support/http/api.js';
import { MALFORMED_ADDRESSES, newAddress, PeopleFixture, studentRow } from '../../support/data/provisioning.js';

const api = await TestApi.shared();
const { make } = api;
const provisioning = await PeopleFixture.open(api, make);

const elsewhere = newAddress();
await (await PeopleFixture.open(api, make)).inviteOne(studentRow({ email: elsewhere }));
const { id: accepted } = await provisioning.inviteOne(studentRow());
const { id: pending } = await provisioning.inviteOne(studentRow({ email: elsewhere }));
const { id: classroom } = await make.classroom(provisioning.id);
const named = { first_name: 'Mia', last_name: 'Nguyen' };

describe('email addresses', () => {
  it.each(MALFORMED_ADDRESSES)('refuses %j in every request that takes an address', async (email) => {
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
      const { status, body: answer } = await provisioning.send(method, path, body);
      expect([path, status], JSON.stringify(body)).toEqual([path, 422]);
      const { detail } = answer as { detail: { loc: string[] }[] };
      expect(detail.map(({ loc }) => loc.join('.'))).toEqual([place]);
    }
    expect(await logins()).toEqual(before);
  });

  it('treats Unicode normalizations of an address as the same', async () => {
    const [composed, decomposed] = ['\u00f6', 'o\u0308'].map((letter) => newAddress().replace(/^.*@/, `j${letter}rg@`));
    const { id } = await provisioning.inviteOne(studentRow({ email: composed }));
    expect(await provisioning.inviteOne(studentRow({ email: decomposed }))).toMatchObject({ status: 'exists', id });
    expect(await provisioning.inviteOne(studentRow({ email: decomposed!.toUpperCase() }))).toMatchObject({ status: 'exists', id });
  });

  it.each([
    ['in Punycode', 'b\u00fccher', 'xn--bcher-kva'],
    ['in upper case', 'b\u00fccher', 'B\u00dcCHER'],
    ['in Punycode of upper case', 'b\u00fccher', 'XN--BCHER-KVA'],
    ['with a combining accent', 'b\u00fccher', 'bu\u0308cher'],
    ['with a sharp s in Punycode', 'fa\u00df', 'xn--fa-hia'],
    ['in a script that needs combining marks', 'हिन्दी', 'xn--j2bd4cyah0f'],
  ])('treats a domain %s as the same', async (_, readable, other) => {
    const address = newAddress();
    const [first, second] = [readable, other].map((label) => address.replace('example.org', `${label}.example`));
    const { id } = await provisioning.inviteOne(studentRow({ email: first }));
    expect(await provisioning.inviteOne(studentRow({ email: second }))).toMatchObject({ status: 'exists', id });
    expect(normalizeEmail(normalizeEmail(second!))).toBe(normalizeEmail(first!));
  });

  it.each(['mia+exams@example.org', "o'neil@mail.example.co", 'jörg@exämple.org', '1@2.example'])('accepts %j', async (email) => {
    expect(await provisioning.inviteOne(studentRow({ email }))).toMatchObject({ status: 'ok', email });
  });

  it('tells domains apart that only look alike', () => {
    const domains = ['faß.example', 'fass.example', 'xn--fa-hia.example.org', 'b\u00fccher.example', 'bucher.example'];
    expect(new Set(domains.map((domain) => normalizeEmail(`mia@${domain}`))).size).toBe(domains.length);
  });

  it.each(MALFORMED_ADDRESSES)('refuses %j in pages, commands and imports too', (email) => {
    expect(isEmail(email)).toBe(false);
    // Imports may contain placeholder addresses.
    if (!/invalid$/i.test(email)) expect(readEmail(email, loadEnv({}, {}))).not.toBe(email.trim());
  });

  const logins = () => make.query('SELECT id, email FROM users ORDER BY id');
});
