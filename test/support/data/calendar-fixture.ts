import supertest from 'supertest';
import { v7 as uuidv7 } from 'uuid';
import type { TestApi } from '../http/api.js';

/** A session as the API shows it. */
export interface ShownSession {
  id: string;
  status: string;
  tutor_id: string | null;
  student_id: string | null;
  starts_at: string;
  ends_at: string;
  duration_minutes: number;
  student_rate_cents: number | null;
  tutor_pay_rate_cents: number | null;
  amount_owed_cents: number | null;
  series_id: string | null;
  group_id: string | null;
  classroom_id: string | null;
}

/** Somebody's place in a session. */
export interface ShownParticipant {
  id: string;
  session_id: string;
  student_id: string;
  status: string;
  attendance: string | null;
  cancelled_at: string | null;
  rate_cents: number | null;
}

export interface Sent<Body = ShownSession> {
  status: number;
  body: Body & {
    error: { code: string; message: string; details: { session_id?: string } };
    detail: { loc: (string | number)[]; type: string }[];
  };
  headers: Record<string, string>;
}

/** An organization in Melbourne with two tutors and three students, and a client of its calendar. */
export class CalendarFixture {
  private constructor(
    readonly api: TestApi,
    readonly school: string,
    readonly key: string,
    readonly t1: string,
    readonly t2: string,
    readonly students: [string, string, string],
  ) {}

  static async open(api: TestApi): Promise<CalendarFixture> {
    const { make } = api;
    const { id: school } = await make.organization({ timeZone: 'Australia/Melbourne' });
    const key = await api.key(school, { scopes: ['read', 'sessions:write'] });
    const [t1, t2] = [await make.tutor(school), await make.tutor(school)];
    const students = [await make.student(school), await make.student(school), await make.student(school)];
    return new CalendarFixture(api, school, key, t1.id, t2.id, students.map(({ id }) => id) as [string, string, string]);
  }

  async send<Body = ShownSession>(
    method: 'post' | 'put' | 'patch' | 'delete' | 'get',
    path: string,
    body?: object,
    { key = this.key, idempotencyKey, ifMatch }: { key?: string; idempotencyKey?: string; ifMatch?: string } = {},
  ): Promise<Sent<Body>> {
    const request = supertest(this.api.server)[method](path).set('Authorization', `Token token=${key}`);
    if (idempotencyKey) request.set('Idempotency-Key', idempotencyKey);
    if (ifMatch !== undefined) request.set('If-Match', ifMatch);
    return body ? await request.send(body) : await request;
  }

  /** Books an hour of the first tutor with the first student. */
  book(startsAt: string, more: object = {}): Promise<Sent> {
    const who = ['student_ids', 'group_id', 'classroom_id'].some((name) => name in more) ? {} : { student_id: this.students[0] };
    const length = 'ends_at' in more ? {} : { duration_minutes: 60 };
    return this.send('post', '/v1/sessions', { tutor_id: this.t1, starts_at: startsAt, ...who, ...length, ...more });
  }

  put(id: string, change: object): Promise<Sent> {
    return this.send('put', `/v1/sessions/${id}`, change);
  }

  delete(path: string): Promise<Sent> {
    return this.send('delete', path);
  }

  async sessions(query = ''): Promise<ShownSession[]> {
    return (await this.send<{ data: ShownSession[] }>('get', `/v1/sessions?limit=100&${query}`)).body.data;
  }

  /** The participants of a session, in the order of their students. */
  async participants(sessionId: string): Promise<ShownParticipant[]> {
    const path = `/v1/lesson-participants?session_id=${sessionId}`;
    const { data } = (await this.send<{ data: ShownParticipant[] }>('get', path)).body;
    return data.sort((a, b) => (a.student_id < b.student_id ? -1 : 1));
  }

  /** A cell of the table of rates. */
  async cell(cell: object): Promise<void> {
    await this.api.make.insert('rate_cells', [{ id: uuidv7(), organization_id: this.school, ...cell }]);
  }
}
