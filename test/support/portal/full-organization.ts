import { randomUUID } from 'node:crypto';
import type { JoinFixture } from './join-fixture.js';
import { busyOffice } from './join-states.js';
import type { PeoplePages } from './people-pages.js';

const LONG = 'A rather long name, as people give one';

/** An organization with more of everything than a page shows, in every state. */
export interface FullOrganization extends PeoplePages {
  slug: string;
  /** A key that can be replaced. */
  keyId: string;
}

/** Fills an organization, and the account of its owner. */
export async function fullOrganization(joining: JoinFixture): Promise<FullOrganization> {
  const office = await busyOffice(joining);
  const { provisioning, owner, base } = office;
  const slug = base.split('/')[2]!;
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
    const email = `a-long-address-${more}@example.org`;
    await joining.invite(provisioning, { scope: 'organization', role: 'student', email });
    await joining.api.keys.create(at, { name: `${LONG} ${more}`, scopes: ['read', 'write'] });
  }
  const keyId = await fillKeys(joining, at);
  await make.query(
    `WITH added AS (INSERT INTO suppressions (email_normalized, reason)
       SELECT 'a-rather-long-address-' || n || '@example.org', 'smtp_550' FROM generate_series(1, 300) n RETURNING email_normalized)
     INSERT INTO suppression_senders (email_normalized, organization_id) SELECT email_normalized, $1 FROM added`,
    [at],
  );
  await make.query(
    `INSERT INTO inbox_messages (id, organization_id, guest_name, guest_email, message, status)
     SELECT gen_random_uuid(), $1, $2, 'a-rather-long-address-' || n || '@example.org', repeat('A long question. ', 20),
       (ARRAY['unread', 'read', 'archived'])[1 + n % 3] FROM generate_series(1, 80) n`,
    [at, LONG],
  );
  await make.query(
    `INSERT INTO outbox (id, organization_id, topic, kind, recipient, payload, status, attempts, last_error, finished_at)
     SELECT gen_random_uuid(), $1::uuid, 'email', 'organization_invite', 'a-long-address-' || n || '@example.org', '\\x00'::bytea, 'dead',
       8, 'smtp_550', now() FROM generate_series(1, 60) n
     UNION ALL SELECT gen_random_uuid(), $1::uuid, 'email', 'parent_invite', status || '@example.org', '\\x00'::bytea, status, 8,
       'host_not_found', CASE WHEN status IN ('sent', 'suppressed') THEN now() END
       FROM unnest('{queued,failed,sent,suppressed}'::text[]) status`,
    [at],
  );
  await make.query(
    `INSERT INTO request_log (id, organization_id, api_key_id, request_id, method, route, status, duration_ms, created_at)
     SELECT gen_random_uuid(), $1, $2, $3, 'GET', '/v1/student-groups/:student_group_id/students', 200 + n % 2 * 204, 12.5,
       now() - n * interval '90 minutes' FROM generate_series(1, 110) n`,
    [at, keyId, randomUUID()],
  );
  await owner.post(`/o/${slug}/build-hook/add`, { url: 'https://build.example.org/hook' });
  await make.query(
    `INSERT INTO outbox (id, organization_id, topic, kind, recipient, status, last_error, attempts, finished_at)
     SELECT gen_random_uuid(), $1::uuid, 'rebuild', kind, 'organization:' || $1::text, status, problem, 8, now()
     FROM (VALUES ('test', 'sent', NULL), ('rebuild', 'dead', 'http_404'), ('rebuild', 'queued', NULL)) c (kind, status, problem)`,
    [at],
  );
  await fillAccount(joining, office.ownerId);
  return Object.assign(office, { slug, keyId });
}

/** Keys in every state, and half a year of revoked ones. @returns the id of one that can be replaced */
async function fillKeys({ api, portal: { make } }: JoinFixture, at: string): Promise<string> {
  await api.keys.create(at, { name: 'Soon', expiresAt: { inDays: 9 } });
  const expired = await api.keys.create(at, { name: 'Import of 2025' });
  const replaced = await api.keys.create(at, { name: 'Till', platformBlog: true, expiresAt: { inDays: 90 } });
  await api.keys.replace(at, replaced.id, { overlap: '7d' });
  const { id } = await api.keys.create(at, { name: 'Accounting' });
  await make.query('UPDATE api_keys SET expires_at = now() WHERE id = $1', [expired.id]);
  await make.query(`UPDATE api_keys SET last_used_at = now() - interval '5 minutes' WHERE id = $1`, [id]);
  await make.query(
    `INSERT INTO api_keys (id, organization_id, name, first_four, last_four, key_hash, scopes, revoked_at, last_used_at)
     SELECT gen_random_uuid(), $1, $2 || n, 'aaaa', 'bbbb', sha256(n::text::bytea), '{read}', now(),
       now() - n * interval '1 minute' FROM generate_series(1, 2000) n`,
    [at, LONG],
  );
  return id;
}

/** Gives a person many sessions, passkeys and invitations. */
async function fillAccount({ portal: { make } }: JoinFixture, userId: string): Promise<void> {
  await make.query('UPDATE users SET email_verified_at = now() WHERE id = $1', [userId]);
  await make.query(
    `INSERT INTO portal_sessions (id, secret_hash, user_id, user_agent, network)
     SELECT gen_random_uuid(), sha256(n::text::bytea), $1, $2, '2001:db8:1234:5600::/56' FROM generate_series(1, 150) n`,
    [userId, 'Mozilla/5.0 (X11; Linux x86_64) Chrome/140.0'],
  );
  await make.query(
    `INSERT INTO passkeys (id, user_id, credential_id, public_key, sign_count, name)
     SELECT gen_random_uuid(), $1, sha256(n::text::bytea), '\\x01', 0, $2 || n FROM generate_series(1, 20) n`,
    [userId, LONG],
  );
  for (let more = 0; more < 50; more++) {
    const { id } = await make.organization({ name: `${LONG} ${more}` });
    await make.query(
      `INSERT INTO members (id, organization_id, user_id, role, status, supplied_first_name, supplied_last_name, supplied_email)
       VALUES (gen_random_uuid(), $1, $2, 'tutor', 'pending', 'A', 'B', 'a@example.org')`,
      [id, userId],
    );
  }
}
