import type { Scope } from '@app/access';
import { Invites } from '@app/people';
import { v7 as uuidv7 } from 'uuid';
import { TestApi } from '../../support/http/api.js';

const PORTAL = 'https://portal.example.org';
const CODE = /^[2-9A-HJKMNP-Z]{12}$/;

const api = await TestApi.shared({ APP_URL: PORTAL });
const { make } = api;

describe('GET /v1/org/join-link', () => {
  it('is empty until its codes are created, and creating them again changes nothing', async () => {
    const { id } = await make.organization();
    const reader = await api.key(id, { scopes: ['read', 'accounts:write'] });
    const read = async (key = reader) => (await api.get('/v1/org/join-link', key)).body as Record<string, string | null>;
    const nothing = { student_code: null, student_url: null, tutor_code: null, tutor_url: null };
    expect(await read()).toEqual(nothing);
    const invites = api.app.get(Invites);
    const made = await Promise.all(Array.from({ length: 8 }, () => invites.ensurePermanentCodes(id)));
    expect(made.filter(Boolean)).toHaveLength(1);
    const codes = await read();
    expect(Object.entries(codes)).toEqual([
      ['student_code', expect.stringMatching(CODE)],
      ['student_url', `${PORTAL}/join/${codes.student_code}`],
      ['tutor_code', expect.stringMatching(CODE)],
      ['tutor_url', `${PORTAL}/join/${codes.tutor_code}`],
    ]);
    expect(codes.student_code).not.toBe(codes.tutor_code);
    expect(await invites.ensurePermanentCodes(id)).toBe(false);
    expect(await read()).toEqual(codes);
    const others = await Promise.all([['read'], ['read', 'write']].map((scopes) => api.key(id, { scopes: scopes as Scope[] })));
    for (const other of others) expect(await read(other)).toEqual(nothing);
    const rows = await make.query<{ sealed: Buffer; role: string; expires_at: null; secret_hash: Buffer }>(
      'SELECT * FROM invites WHERE organization_id = $1 ORDER BY role',
      [id],
    );
    expect(rows.map(({ role, expires_at }) => [role, expires_at])).toEqual([
      ['student', null],
      ['tutor', null],
    ]);
    expect(rows[0]!.secret_hash).toEqual(invites.hashOf(codes.student_code!));
    expect(JSON.stringify(rows)).not.toContain(codes.student_code);
    expect(rows[0]!.sealed.includes(codes.student_code!)).toBe(false);
  });

  it('replaces a revoked code', async () => {
    const { id } = await api.organizations.create({ name: 'Made', slug: `made-${uuidv7()}` });
    const reader = await api.key(id, { scopes: ['read', 'accounts:write'] });
    const read = async () => (await api.get('/v1/org/join-link', reader)).body as Record<string, string>;
    const before = await read();
    expect(before.tutor_code).toMatch(CODE);
    await make.query(`UPDATE invites SET revoked_at = now() WHERE organization_id = $1 AND role = 'tutor'`, [id]);
    expect((await read()).tutor_code).toBeNull();
    await api.app.get(Invites).ensurePermanentCodes(id);
    const after = await read();
    expect(after.student_code).toBe(before.student_code);
    expect(after.tutor_code).toMatch(CODE);
    expect(after.tutor_code).not.toBe(before.tutor_code);
  });
});
