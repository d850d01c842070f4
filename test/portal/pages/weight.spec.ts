import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import type { PeopleFixture } from '../../support/data/provisioning.js';
import { JoinFixture } from '../../support/portal/join-fixture.js';
import { busyOffice, joinPages } from '../../support/portal/join-states.js';
import { fixture } from '../../support/process/fixture.js';

/** HTML with its styles, scripts and images, uncompressed and uncached. */
const MOST_BYTES = 60_000;

let provisioning: PeopleFixture;
let slug: string;
let owner: string;

const joining = await fixture(JoinFixture.open());

beforeAll(async () => {
  const busy = await busyOffice(joining);
  provisioning = busy.provisioning;
  owner = busy.owner.header;
  slug = busy.base.split('/')[2]!;
  await fill();
});

const LONG = 'A rather long name, as people give one';

/** More of everything than a page shows. */
async function fill(): Promise<void> {
  const { make } = joining.portal;
  const at = provisioning.id;
  const wish = { user: { firstName: LONG, lastName: LONG } };
  for (let more = 0; more < 60; more++) {
    await make.student(at, wish);
    await make.member(at, { ...wish, role: 'student', status: 'archived' });
    const tutor = await make.tutor(at, wish);
    const asks = `UPDATE members SET status = 'pending', approval_requested_at = now() WHERE user_id = $1`;
    await make.query(asks, [tutor.id]);
  }
  for (let more = 0; more < 30; more++) {
    await joining.invite(provisioning, {
      scope: 'organization',
      role: 'student',
      email: `a-long-address-${more}@example.org`,
    });
    await joining.api.keys.create(at, { name: `${LONG} ${more}`, scopes: ['read', 'write'] });
  }
  await fillAccount();
  // Half a year of keys, some of them used in the last week.
  await make.query(
    `INSERT INTO api_keys (id, organization_id, name, first_four, last_four, key_hash, scopes, revoked_at, last_used_at)
     SELECT gen_random_uuid(), $1, $2 || n, 'aaaa', 'bbbb', sha256(n::text::bytea), '{read}', now(),
       now() - n * interval '1 minute' FROM generate_series(1, 2000) n`,
    [at, LONG],
  );
  await make.query(
    `WITH added AS (INSERT INTO suppressions (email_normalized, reason)
       SELECT 'a-rather-long-address-' || n || '@example.org', 'smtp_550' FROM generate_series(1, 300) n RETURNING email_normalized)
     INSERT INTO suppression_senders (email_normalized, organization_id) SELECT email_normalized, $1 FROM added`,
    [at],
  );
  await make.query(
    `INSERT INTO outbox (id, organization_id, topic, kind, recipient, payload, status, attempts, last_error, finished_at)
     SELECT gen_random_uuid(), $1, 'email', 'organization_invite', 'a-long-address-' || n || '@example.org', '\\x00', 'dead',
       8, 'smtp_550', now() FROM generate_series(1, 60) n`,
    [at],
  );
  const [key] = await make.query('SELECT id FROM api_keys WHERE organization_id = $1 LIMIT 1', [at]);
  await make.query(
    `INSERT INTO request_log (id, organization_id, api_key_id, request_id, method, route, status, duration_ms, created_at)
     SELECT gen_random_uuid(), $1, $2, $3, 'GET', '/v1/student-groups/:student_group_id/students', 200 + n % 2 * 204, 12.5,
       now() - n * interval '90 minutes' FROM generate_series(1, 110) n`,
    [at, key!.id, randomUUID()],
  );
}

/** Gives the owner many sessions, passkeys and invitations. */
async function fillAccount(): Promise<void> {
  const { make } = joining.portal;
  const [owner] = await make.query<{ user_id: string }>(
    `SELECT user_id FROM members WHERE organization_id = $1 AND role = 'owner' AND status = 'accepted' LIMIT 1`,
    [provisioning.id],
  );
  const me = owner!.user_id;
  await make.query('UPDATE users SET email_verified_at = now() WHERE id = $1', [me]);
  const agent = 'Mozilla/5.0 (X11; Linux x86_64) Chrome/140.0';
  await make.query(
    `INSERT INTO portal_sessions (id, secret_hash, user_id, user_agent, network)
     SELECT gen_random_uuid(), sha256(n::text::bytea), $1, $2, '2001:db8:1234:5600::/56' FROM generate_series(1, 150) n`,
    [me, agent],
  );
  await make.query(
    `INSERT INTO passkeys (id, user_id, credential_id, public_key, sign_count, name)
     SELECT gen_random_uuid(), $1, sha256(n::text::bytea), '\\x01', 0, $2 || n FROM generate_series(1, 20) n`,
    [me, LONG],
  );
  for (let more = 0; more < 50; more++) {
    const { id } = await make.organization({ name: `${LONG} ${more}` });
    await make.query(
      `INSERT INTO members (id, organization_id, user_id, role, status, supplied_first_name, supplied_last_name, supplied_email)
       VALUES (gen_random_uuid(), $1, $2, 'tutor', 'pending', 'A', 'B', 'a@example.org')`,
      [id, me],
    );
  }
}

interface Measured {
  page: string;
  bytes: number;
  /** As the server logged it. */
  ms: number;
}

async function measure(name: string, path: string, cookie: string): Promise<Measured> {
  const { text } = await joining.portal.get(path, cookie);
  const assets = new Set([...text.matchAll(/(?:href|src)="(\/assets\/[^"]+)"/g)].map(([, url]) => url!));
  let bytes = Buffer.byteLength(text);
  for (const url of assets) {
    bytes += Number((await joining.portal.get(url)).headers['content-length']);
  }
  // The first answer compiles the template.
  const times: number[] = [];
  for (let turn = 0; turn < 5; turn++) {
    const lines = joining.portal.logged.length;
    await joining.portal.get(path, cookie);
    const logged = joining.portal.logged.slice(lines).map((line) => /"ms":([\d.]+)/.exec(line)?.[1]);
    times.push(Number(logged.find((ms) => ms !== undefined)));
  }
  return { page: name, bytes, ms: times.sort((one, other) => one - other)[2]! };
}

describe('every page', () => {
  it('weighs less than 60 KB including assets, even with a full list', async () => {
    const [key] = await provisioning.make.query<{ id: string }>(
      'SELECT id FROM api_keys WHERE organization_id = $1 LIMIT 1',
      [provisioning.id],
    );
    const ids: Record<string, string> = { slug, key_id: key!.id, secret: 'x'.repeat(43) };
    const measured: Measured[] = [];
    for (const { method, path, access } of joining.portal.routes()) {
      if (method !== 'GET' || access === 'probe') continue;
      const at = path.replaceAll(/:([^/]+)/g, (_, name: string) => ids[name] ?? randomUUID());
      measured.push(await measure(path, at, access === 'public' ? '' : owner));
    }
    for (const query of [
      'people?status=waiting',
      'people?status=archived',
      'activity?status=4xx',
      'outbox?status=dead',
    ]) {
      measured.push(await measure(query, `/o/${slug}/${query}`, owner));
    }
    for (const [name, { path, cookie = '' }] of Object.entries(await joinPages(joining, provisioning))) {
      measured.push(await measure(`join: ${name}`, path, cookie));
    }
    measured.sort((one, other) => other.bytes - one.bytes);
    console.log(
      measured.map(({ page, bytes, ms }) => `${String(bytes).padStart(6)} bytes ${ms} ms  ${page}`).join('\n'),
    );
    expect(measured.length).toBeGreaterThan(40);
    expect(measured.filter(({ bytes }) => bytes >= MOST_BYTES)).toEqual([]);
  });
});
