import { setImmediate as breathe } from 'node:timers/promises';
import supertest from 'supertest';
import { TestApi } from '../http/api.js';
import { TestPortal } from '../portal/portal.js';

/** How many connections repeat what keeps somebody from being removed. */
const CONNECTIONS = 8;

const DAY_MS = 86_400_000;

/** An admin whom an owner ends while they, or a key that names them, write again and again. */
export class Rogue {
  private constructor(
    readonly api: TestApi,
    readonly portal: TestPortal,
  ) {}

  static async open(): Promise<Rogue> {
    const settings = { RATE_LIMIT_PER_MINUTE: '1000000' };
    const api = await TestApi.start(settings);
    return new Rogue(api, await TestPortal.start({}, api.database));
  }

  async stop(): Promise<void> {
    await this.portal.stop();
    await this.api.stop();
  }

  /** @param by what is repeated @param end what the owner does @returns what the owner was answered, after how long, and how much was written meanwhile */
  async round(by: 'form' | 'bookings' | 'leads', end: 'remove' | 'role'): Promise<{ status: number; ms: number; left: string; wrote: number }> {
    const { api, portal } = this;
    const { make } = api;
    const owner = await portal.someone('owner');
    const { organization } = owner;
    const rogue = await portal.someone('admin', { organization });
    const student = await make.student(organization.id);
    const key = await api.key(organization.id, { scopes: ['sessions:write', 'leads:write'] });
    const call = (path: string, body: object) => supertest(api.server).post(path).set('Authorization', `Token token=${key}`).send(body);
    let n = 0;
    const acts = {
      form: () => portal.post(`/o/${organization.slug}/settings`, { phone: `+61 3 9000 ${++n}` }, rogue.cookie),
      bookings: () =>
        call('/v1/sessions', {
          tutor_id: rogue.user.id,
          student_id: student.id,
          starts_at: new Date(Date.UTC(2040, 0, 1) + ++n * (DAY_MS / 8)).toISOString(),
          duration_minutes: 60,
        }),
      leads: () => call('/v1/leads', { name: 'Priya', email: `p${++n}@example.org`, assigned_tutor_id: rogue.user.id }),
    };
    let over = false;
    let wrote = 0;
    const loops = Array.from({ length: CONNECTIONS }, async () => {
      while (!over) {
        const { status } = await acts[by]();
        if (status < 400) wrote++;
        await breathe();
      }
    });
    await vi.waitFor(() => expect(wrote).toBeGreaterThan(CONNECTIONS), 20_000);
    const began = performance.now();
    const path = `/o/${organization.slug}/people/${rogue.user.id}/${end}`;
    const { status, headers } = await portal.post(path, end === 'role' ? { role: 'tutor' } : {}, owner.cookie);
    const ms = Math.round(performance.now() - began);
    over = true;
    await Promise.all(loops);
    const [row] = await make.query<{ left: string }>(
      `SELECT CASE status WHEN 'archived' THEN 'archived' ELSE role END AS left FROM members WHERE organization_id = $1 AND user_id = $2`,
      [organization.id, rogue.user.id],
    );
    return { status: headers['location'] ? status : -status, ms, left: row!.left, wrote };
  }
}
