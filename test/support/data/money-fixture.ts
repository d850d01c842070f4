import { type Broken, brokenInvariants } from '@app/database';
import type { TestApi } from '../http/api.js';
import { CalendarFixture, type Sent, type ShownParticipant, type ShownSession } from './calendar-fixture.js';

/** A line as the API shows it. */
export interface ShownLine {
  id: string;
  description: string;
  quantity: number;
  unit_amount_cents: number;
  amount_cents: number;
  item_type: string;
  session_id: string | null;
}

export interface ShownInvoice {
  id: string;
  invoice_number: string | null;
  student_id: string;
  status: string;
  amount_due_cents: number;
  amount_paid_cents: number;
  due_date: string | null;
  sent_at: string | null;
  paid_at: string | null;
  line_items: ShownLine[];
}

export interface ShownPayment {
  id: string;
  status: string;
  student_id: string | null;
  tutor_id: string | null;
  amount_cents: number;
  refund_amount_cents: number | null;
  received_on: string | null;
  reference: string | null;
  credit_cents: number;
  allocations: { invoice_id: string; amount_cents: number }[];
  voided_at: string | null;
  void_reason: string | null;
}

export interface ShownBalance {
  total_invoiced_cents: number;
  total_paid_cents: number;
  outstanding_cents: number;
  open_invoices_count: number;
  credit_cents: number;
}

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** The day in Melbourne so many days from now. */
export const melbourne = (days: number): string =>
  new Intl.DateTimeFormat('en-CA', { timeZone: 'Australia/Melbourne' }).format(Date.now() + days * DAY);

/** The status of an answer and the code of its error. */
export const refusal = ({ status, body }: { status: number; body: { error?: { code: string } } }) => [status, body.error?.code];

/** An organization in Melbourne that bills: P is the parent of the first two of three students. */
export class MoneyFixture {
  private constructor(
    readonly calendar: CalendarFixture,
    /** A key that reads, teaches and takes money. */
    readonly key: string,
    readonly parent: string,
  ) {}

  static async open(api: TestApi): Promise<MoneyFixture> {
    const calendar = await CalendarFixture.open(api);
    const { school, students } = calendar;
    const key = await api.key(school, { scopes: ['read', 'sessions:write', 'payments:write'] });
    const { id: parent } = await api.make.parent(school, { children: students.slice(0, 2) });
    return new MoneyFixture(calendar, key, parent);
  }

  /**
   * Opens an organization before each test of a spec file. Its books must add up after the test.
   *
   * @param take gets each one that is opened @returns opens another one
   */
  static inEachTest(api: TestApi, take: (at: MoneyFixture, students: MoneyFixture['students']) => void): () => Promise<void> {
    const opened: MoneyFixture[] = [];
    const next = async () => {
      const at = await MoneyFixture.open(api);
      opened.push(at);
      take(at, at.students);
    };
    beforeEach(next);
    afterEach(async () => {
      for (const at of opened.splice(0)) expect(await at.faults()).toEqual([]);
    });
    return next;
  }

  get students() {
    return this.calendar.students;
  }

  send<Body>(method: 'post' | 'put' | 'patch' | 'delete' | 'get', path: string, body?: object, key = this.key): Promise<Sent<Body>> {
    return this.calendar.send<Body>(method, path, body, { key });
  }

  /** Books a session that has taken place: of the first student, at 8,000 an hour. */
  async lesson(minutes: number, more: object = {}): Promise<ShownSession> {
    const startsAt = new Date(Math.floor(Date.now() / HOUR) * HOUR - 20 * HOUR).toISOString();
    const wish = { duration_minutes: minutes, student_rate_cents: 8_000, allow_overlap: true, ...more };
    const { status, body } = await this.calendar.book(startsAt, wish);
    expect([status, body]).toEqual([201, body]);
    return body;
  }

  /** @param attendance of those who did something else than attend */
  complete(id: string, attendance: Record<string, string> = {}) {
    const participants = Object.entries(attendance).map(([student_id, value]) => ({ student_id, attendance: value }));
    return this.send<ShownSession>('put', `/v1/sessions/${id}/complete`, participants.length > 0 ? { participants } : {});
  }

  /** A lesson of the first student that was completed. */
  async taught(minutes: number, more: object = {}): Promise<ShownSession> {
    const { id } = await this.lesson(minutes, more);
    return this.done(await this.complete(id));
  }

  done<Body>({ status, body }: Sent<Body>): Body {
    if (status >= 300) throw new Error(`${status} ${JSON.stringify(body)}`);
    return body;
  }

  async participants(sessionId: string): Promise<ShownParticipant[]> {
    return this.calendar.participants(sessionId);
  }

  /** A student's invoices, oldest first. */
  async invoices(student: string, status?: string): Promise<ShownInvoice[]> {
    const query = `student_id=${student}&limit=100${status ? `&status=${status}` : ''}`;
    return this.done(await this.send<{ data: ShownInvoice[] }>('get', `/v1/invoices?${query}`)).data.reverse();
  }

  async invoice(id: string): Promise<ShownInvoice> {
    return this.done(await this.send<ShownInvoice>('get', `/v1/invoices/${id}`));
  }

  /** The only draft of a student. */
  async draft(student: string): Promise<ShownInvoice> {
    const [draft, ...others] = await this.invoices(student, 'draft');
    expect(others).toEqual([]);
    return draft!;
  }

  async drafted(student: string, ...amounts: number[]): Promise<ShownInvoice> {
    const lines = amounts.map((unit_amount_cents) => ({ description: 'Something', unit_amount_cents }));
    return this.done(await this.send<ShownInvoice>('post', '/v1/invoices', { student_id: student, lines }));
  }

  finalize(id: string, body: object = {}) {
    return this.send<ShownInvoice>('post', `/v1/invoices/${id}/finalize`, body);
  }

  /** An invoice that has been issued. */
  async issued(student: string, amount: number, body: object = {}): Promise<ShownInvoice> {
    return this.done(await this.finalize((await this.drafted(student, amount)).id, body));
  }

  void(id: string, body: object = {}) {
    return this.send<ShownInvoice>('post', `/v1/invoices/${id}/void`, body);
  }

  pay(body: object) {
    return this.send<ShownPayment>('post', '/v1/payments', { payment_type: 'bank_transfer', ...body });
  }

  async paid(student: string, amount_cents: number, more: object = {}): Promise<ShownPayment> {
    return this.done(await this.pay({ student_id: student, amount_cents, ...more }));
  }

  /** Takes back a payment that was entered by mistake. */
  takeBack(id: string, reason = 'Typed one zero too many') {
    return this.send<ShownPayment>('post', `/v1/payments/${id}/void`, { reason });
  }

  refund(id: string, amount_cents: number) {
    return this.send<ShownPayment>('post', `/v1/payments/${id}/refund`, { amount_cents });
  }

  /** Invoiced, paid, outstanding, number of open invoices, and credit. */
  async balance(parent = this.parent): Promise<number[]> {
    const body = this.done(await this.send<ShownBalance>('get', `/v1/parents/${parent}/balance`));
    return [body.total_invoiced_cents, body.total_paid_cents, body.outstanding_cents, body.open_invoices_count, body.credit_cents];
  }

  /** Status and paid amount of invoices. */
  async states(...invoices: { id: string }[]): Promise<[string, number][]> {
    const found = await Promise.all(invoices.map(({ id }) => this.invoice(id)));
    return found.map((one) => [one.status, one.amount_paid_cents]);
  }

  /** What does not add up in the organization's rows. */
  faults(): Promise<Broken[]> {
    const { api, school } = this.calendar;
    return brokenInvariants((sql, values) => api.make.query(sql, values), school);
  }
}
