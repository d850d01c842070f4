import { randomUUID } from 'node:crypto';
import supertest from 'supertest';
import { expect } from 'vitest';
import { type Scope, SCOPES } from '@app/access';
import type { BulkInviteAnswer, ResultItem } from '../../../apps/api/src/areas/people/users/users.view.js';
import type { TestApi } from '../http/api.js';
import { repeated } from '../http/repeated.js';
import type { Factories } from './factories.js';

export type { BulkInviteAnswer, ResultItem };

/** A row of a bulk invite. */
export type RowWish = Record<string, unknown> & { type: 'student' | 'tutor' | 'parent' };

export interface Answer {
  status: number;
  body: unknown;
  text: string;
  headers: Record<string, string>;
}

let people = 0;

/** An unused address. */
export const newAddress = (): string => `person-${++people}-${Date.now().toString(36)}@example.org`;

/** Addresses that the API rejects. */
export const MALFORMED_ADDRESSES = [
  '', '  ', 'mia', 'mia@', '@example.org', 'mia@example', 'mia@@example.org', 'mia @example.org', 'mia@example..org', 'mia@192.168.10.10', 'mia@example.123',
  '.mia@example.org', 'mia.@example.org', 'm..a@example.org', 'mia@-example.org', 'mia@example.org, ana@example.org',
  'Mia <mia@example.org>', 'mia@example.org\nBcc: all@example.org', `${'m'.repeat(65)}@example.org`,
  'mia@ex\uff41mple.org', 'mia@\ufb01sh.example', 'mia@ex\u00adample.org', 'mia@example\u3002org', 'mia@xn--a.example', 'mia@xn--zz-.example', 'mia@xn--zz.example',
  'mia@0x7f.1', 'mia@example.0x7f', 'mia@exa%6dple.org', 'mia@\u212aelvin.example', `mia@${'\u00fc'.repeat(60)}.example`, 'x@placeholder.invalid', 'mia@SCHOOL.INVALID', 'm\u212aa@example.org', `${'\u0130'.repeat(63)}@${'\u0130'.repeat(60)}.example.org`.padStart(250, 'a'),
]; // prettier-ignore

/** Somebody's names and address, which is unused by default. */
export const person = (wish: Record<string, unknown> = {}) => ({ first_name: 'Mia', last_name: 'Nguyen', email: newAddress(), ...wish });

/** Somebody else, such as the parent in a student's row. */
export const ana = (wish: Record<string, unknown> = {}) => person({ first_name: 'Ana', last_name: 'Silva', ...wish });

export const studentRow = (wish: Record<string, unknown> = {}): RowWish => ({ type: 'student', ...person(wish) });

export const tutorRow = (wish: Record<string, unknown> = {}): RowWish => ({ ...studentRow(wish), type: 'tutor' });

export const parentRow = (wish: Record<string, unknown> = {}): RowWish => ({ ...studentRow(wish), type: 'parent' });

/** Results of a row whose person is new, or known by their address. */
export const PROVISIONED = { status: 'ok', created: true, invited: true, error: null };
export const INVITED = { ...PROVISIONED, created: false };

/** Ids in a path that belong to nobody. */
export const NOBODY = [randomUUID(), 'no-uuid', '%2e%2e'];

/** A fault of a 422. */
export interface Detail {
  loc: string[];
  type: string;
}

/** The locations of a 422 whose faults are all `value_error`. */
export function refusedAt({ status, body }: { status: number; body: unknown }): string[] {
  expect(status).toBe(422);
  const { detail } = body as { detail: Detail[] };
  expect(new Set(detail.map(({ type }) => type))).toEqual(new Set(['value_error']));
  return detail.map(({ loc }) => loc.join('.'));
}

/** An organization that provisions people. */
export class PeopleFixture {
  private constructor(
    readonly api: TestApi,
    readonly make: Factories,
    readonly id: string,
    /** A key with every scope. */
    readonly key: string,
  ) {}

  static async open(api: TestApi, make: Factories): Promise<PeopleFixture> {
    const { id } = await make.organization();
    return new PeopleFixture(api, make, id, await api.key(id, { scopes: Object.keys(SCOPES) as Scope[] }));
  }

  async send(
    method: 'post' | 'put' | 'patch',
    path: string,
    body?: object,
    { key = this.key, headers = {} }: { key?: string; headers?: Record<string, string> } = {},
  ): Promise<Answer> {
    const request = supertest(this.api.server)
      [method](path)
      .set({ Authorization: `Token token=${key}`, ...headers });
    return body === undefined ? request : request.send(body);
  }

  post(path: string, body?: object): Promise<Answer> {
    return this.send('post', path, body);
  }

  /** A member with a profile that other organizations must not see. */
  async stranger(role: 'student' | 'tutor' = 'student'): Promise<{ id: string; email: string }> {
    const email = newAddress();
    const user = { email, firstName: 'Secretfirst', lastName: 'Secretlast', phone: '555-SECRET' };
    const { id } = await this.make.member(this.id, { role, user });
    return { id, email };
  }

  /** Sends a bulk invite, which must return 200. */
  async invite(...users: RowWish[]): Promise<BulkInviteAnswer> {
    const { status, body } = await repeated(() => this.post('/v1/users/bulk-invite', { users }));
    if (status !== 200) throw new Error(`bulk-invite answered ${status}: ${JSON.stringify(body)}`);
    return body as BulkInviteAnswer;
  }

  /** Sends a bulk invite with one row. @returns its result */
  async inviteOne(user: RowWish): Promise<ResultItem> {
    return (await this.invite(user)).results[0]!;
  }

  /** Links a parent to a student. */
  async link(parentId: string | null, studentId: string | null): Promise<void> {
    const { status } = await this.post(`/v1/parents/${parentId}/link-student`, { student_id: studentId });
    if (status !== 200) throw new Error(`link-student answered ${status}`);
  }

  /** All records of a list, as the API shows them. */
  async list(path: string): Promise<Record<string, unknown>[]> {
    const answer: Answer = await this.api.get(`${path}?limit=100`, this.key);
    return (answer.body as { data: Record<string, unknown>[] }).data;
  }

  /** The record with this id in a list; undefined if the organization cannot see it. */
  async seen(path: string, id: string | null): Promise<Record<string, unknown> | undefined> {
    return (await this.list(path)).find((record) => record.id === id);
  }

  /** Skips the ten minutes during which an address gets no second mail. */
  async tenMinutesLater(): Promise<void> {
    await this.make.query(`UPDATE outbox SET created_at = created_at - interval '11 minutes' WHERE organization_id = $1`, [this.id]);
  }

  /** This organization's queued mails, newest first. */
  queued(): Promise<{ kind: string; recipient: string }[]> {
    return this.make.query(`SELECT kind, recipient FROM outbox WHERE organization_id = $1 AND topic = 'email' ORDER BY created_at DESC`, [this.id]);
  }
}
