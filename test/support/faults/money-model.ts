import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { MoneyFixture } from '../data/money-fixture.js';
import type { TestApi } from '../http/api.js';
import { findFault, type Run } from './histories.js';
import { faultsOf } from './invariants.js';

/** What is done to an organization's money, and how often. */
const KINDS = {
  ...{ book: 4, complete: 6, reopen: 2, cancel: 1, draft: 4, line: 1, unline: 1, finalize: 6, void: 3 },
  ...{ pay: 5, refund: 3, 'take back': 1, adjust: 1, unadjust: 1, 'pay out': 2 },
} as const;
type Kind = keyof typeof KINDS;

/** A choice among what there is when it is made. */
interface Command {
  kind: Kind;
  which: number;
  /** Picks among variants of a command. */
  variant: number;
  cents: number;
}

const command = fc.record<Command>({
  kind: fc.oneof(...Object.entries(KINDS).map(([kind, weight]) => ({ weight, arbitrary: fc.constant(kind as Kind) }))),
  which: fc.nat(999),
  variant: fc.nat(11),
  cents: fc.integer({ min: 1, max: 9_000 }),
});

/** Rounds of commands, those of one at the same time. */
const history = fc.array(fc.array(command, { minLength: 1, maxLength: 8, size: 'max' }), { minLength: 3, maxLength: 6, size: 'max' });

const does = (kind: Kind, cents: number, variant = 0, which = 0): Command[] => [{ kind, which, variant, cents }];

/** Histories that always run, because random ones find their bug only sometimes. */
const CORPUS: Command[][][] = [
  // A payment of 2,800 pays an invoice of 1,000, then one that is due a day later. 500 are refunded, and taken from the later one.
  [does('draft', 1_000), does('finalize', 4), does('draft', 2_001), does('finalize', 5), does('pay', 1_400, 1), does('refund', 500, 1)],
  // A parent and a child have paid in advance, and the child is invoiced.
  [does('pay', 900), does('pay', 900, 2), does('draft', 500), does('finalize', 1)],
  // An invoice that was paid in part is voided, while another one is open.
  [does('draft', 1_000), does('finalize', 1), does('pay', 400, 2), does('draft', 300), does('finalize', 2), does('void', 1, 1, 1)],
];

/** The API that is written to: where it listens now, and what is done to it while a round is under way. */
export interface Target {
  port(): number;
  /** Called when the requests of a round have been sent. */
  strike?(): Promise<void>;
  /** How often a request was not answered. */
  failures: number;
}

/** What there is to do something with. */
interface Stored {
  sessions: { id: string; tutor: string; students: string[]; pay: number | null }[];
  invoices: { id: string; status: string; lines: string[] }[];
  payments: { id: string; left: number; applied: { id: string; cents: number }[] }[];
  adjustments: { id: string }[];
}

const STORED = `SELECT
  (SELECT coalesce(json_agg(json_build_object('id', id, 'tutor', tutor_id, 'pay', tutor_pay_cents, 'students', ARRAY(
    SELECT student_id FROM lesson_participants WHERE session_id = s.id ORDER BY id)) ORDER BY id), '[]')
    FROM sessions s WHERE organization_id = $1) AS sessions,
  (SELECT coalesce(json_agg(json_build_object('id', id, 'status', status, 'lines', ARRAY(
    SELECT id FROM invoice_lines WHERE invoice_id = i.id ORDER BY position)) ORDER BY id DESC), '[]')
    FROM invoices i WHERE organization_id = $1) AS invoices,
  (SELECT coalesce(json_agg(json_build_object('id', id, 'left', amount_cents - coalesce(refund_amount_cents, 0), 'applied', (
    SELECT coalesce(json_agg(json_build_object('id', id, 'cents', amount_cents) ORDER BY id), '[]')
    FROM payment_allocations WHERE payment_id = p.id)) ORDER BY id), '[]') FROM payments p WHERE organization_id = $1) AS payments,
  (SELECT coalesce(json_agg(json_build_object('id', id)), '[]') FROM adjustments WHERE organization_id = $1) AS adjustments`;

interface Wish {
  method?: string;
  path: string;
  body?: object;
}

const NOBODY = '0190a6f2-5c1e-7d3a-9b4f-2e8c6d1a7f30';
const MINUTES = [45, 50, 60, 35];
const DAY_MS = 86_400_000;
const RETRY_MS = 20;

/** One organization, with two parents: of the first two students, and of the last two. */
class Organization {
  private rounds = 0;

  private constructor(
    private readonly api: TestApi,
    private readonly target: Target,
    private readonly at: MoneyFixture,
    private readonly key: string,
    private readonly parents: string[],
  ) {}

  static async open(api: TestApi, target: Target): Promise<Organization> {
    const at = await MoneyFixture.open(api);
    const key = await api.key(at.calendar.school, { scopes: ['read', 'sessions:write', 'payments:write', 'payroll:write'] });
    const { id: other } = await api.make.parent(at.calendar.school, { children: at.students.slice(1) });
    return new Organization(api, target, at, key, [at.parent, other]);
  }

  /** @throws Error for what does not add up after the round, and for what was answered and is not so */
  async round(commands: readonly Command[]): Promise<void> {
    const round = ++this.rounds;
    const before = await this.stored();
    const wishes = commands.map((command) => this.wishOf(command, before));
    const name = (index: number) => `${this.at.calendar.school}-${round}-${index}`;
    const sent = Promise.all(wishes.map((wish, index) => this.write(name(index), wish)));
    await this.target.strike?.();
    const answers = await sent;
    const told = JSON.stringify(wishes.map((wish, index) => [wish, answers[index]]));
    const faults = await faultsOf(this.api.make, this.at.calendar.school);
    if (faults) throw new Error(`${faults} after ${told}`);
    const kept = await this.api.make.query<{ request: string }>(
      `SELECT request_id AS request FROM audit_log WHERE organization_id = $1 AND status < 400 AND request_id LIKE $2`,
      [this.at.calendar.school, `${this.at.calendar.school}-${round}-%`],
    );
    for (const [index, { status, body }] of answers.entries()) {
      if (status < 400 && !kept.some(({ request }) => request.startsWith(`${name(index)}.`))) throw new Error(`acknowledged and lost: ${told}`);
      if (status >= 400 || wishes[index]!.method) continue;
      const again = await this.write(name(index), wishes[index]!);
      if (!isDeepStrictEqual(again, { status, body })) throw new Error(`another answer the second time: ${JSON.stringify(again)}, ${told}`);
    }
    if (commands.length === 1 && commands[0]!.kind === 'refund') this.checkRefund(wishes[0]!, before, await this.stored());
  }

  /** What a refund leaves was applied first. */
  private checkRefund({ path }: Wish, before: Stored, after: Stored): void {
    const [was, is] = [before, after].map(({ payments }) => payments.find(({ id }) => path.includes(id))?.applied ?? []) as [
      Stored['payments'][number]['applied'],
      Stored['payments'][number]['applied'],
    ];
    const kept = is.every(({ id, cents }, index) => was[index]?.id === id && (cents === was[index].cents || index === is.length - 1));
    if (!kept && is.length <= was.length) throw new Error(`a refund took what was applied first: ${JSON.stringify([was, is])}`);
  }

  private async stored(): Promise<Stored> {
    const [stored] = await this.api.make.query<Stored>(STORED, [this.at.calendar.school]);
    return stored!;
  }

  private wishOf({ kind, which, variant, cents }: Command, stored: Stored): Wish {
    const one = <T>(of: readonly T[]): T | undefined => of[which % Math.max(of.length, 1)];
    const { students, calendar } = this.at;
    const student_id = one(students)!;
    const tutor_id = one([calendar.t1, calendar.t2])!;
    const session = one(stored.sessions);
    const payment = one(stored.payments);
    // Most of what is done is done with what is not finished.
    const invoice = (status: string) => (variant < 9 && one(stored.invoices.filter((it) => it.status === status))) || one(stored.invoices);
    const of = (path: string, record: { id: string } | undefined, act: string) => `/v1/${path}/${record?.id ?? NOBODY}/${act}`;
    switch (kind) {
      case 'book': {
        const student_ids = students.filter((_, index) => index === which % 3 || (variant >> index) % 2 === 1);
        const starts_at = new Date(Math.floor(Date.now() / DAY_MS) * DAY_MS - 3 * DAY_MS).toISOString();
        const terms = { student_rate_cents: cents, tutor_pay_rate_cents: cents + 11, allow_overlap: true };
        return { path: '/v1/sessions', body: { tutor_id, student_ids, starts_at, duration_minutes: MINUTES[variant % 4], ...terms } };
      }
      case 'complete': {
        const attendance = variant < 6 ? 'excused' : 'no_show';
        const participants = variant % 3 === 0 && session ? [{ student_id: one(session.students), attendance }] : [];
        return { method: 'PUT', path: of('sessions', session, 'complete'), body: { participants } };
      }
      case 'reopen':
        return { path: of('sessions', session, 'reopen') };
      case 'cancel':
        return { path: of('sessions', session, 'cancel'), body: { charge_percent: [0, 33, 50, 100][variant % 4] } };
      case 'draft': {
        const lines = [{ description: 'Books', quantity: 1 + (variant % 3), unit_amount_cents: cents }];
        const discount = { description: 'Discount', unit_amount_cents: -cents * (1 + (variant % 2)) };
        return { path: '/v1/invoices', body: { student_id, lines: variant > 9 ? [] : variant > 7 ? [...lines, discount] : lines } };
      }
      case 'line':
        return { path: of('invoices', invoice('draft'), 'lines'), body: { description: 'More', unit_amount_cents: variant % 4 ? cents : -cents } };
      case 'unline': {
        const draft = invoice('draft');
        return { method: 'DELETE', path: of('invoices', draft, `lines/${one(draft?.lines ?? []) ?? NOBODY}`) };
      }
      case 'finalize':
        return { path: of('invoices', invoice('draft'), 'finalize'), body: variant % 3 === 0 ? { due_date: `2030-01-0${1 + (cents % 4)}` } : {} };
      case 'void':
        return { path: of('invoices', invoice('open'), 'void'), body: { rebill: variant % 2 === 0 } };
      case 'pay': {
        const payer = variant % 3 === 0 ? { parent_id: one(this.parents) } : { student_id };
        const named = variant % 4 === 3 ? { invoice_id: invoice('open')?.id } : {};
        return { path: '/v1/payments', body: { ...payer, ...named, amount_cents: cents * (1 + (variant % 2)), payment_type: 'cash' } };
      }
      case 'refund':
        return { path: of('payments', payment, 'refund'), body: { amount_cents: payment && variant % 3 === 0 ? Math.max(1, payment.left) : cents } };
      case 'take back':
        return { path: of('payments', payment, 'void'), body: { reason: 'Typed one zero too many' } };
      case 'adjust': {
        const period = { period_start: '2026-04-13', period_end: '2026-04-26' };
        return { path: '/v1/adjustments', body: { tutor_id, ...period, amount_cents: variant % 2 === 0 ? cents : -cents } };
      }
      case 'unadjust':
        return { path: of('adjustments', one(stored.adjustments), 'void') };
      case 'pay out':
        if (!session || variant % 4 === 0) return { path: '/v1/payouts', body: { tutor_id, amount_cents: cents } };
        return { path: '/v1/payouts', body: { tutor_id: session.tutor, session_id: session.id, amount_cents: session.pay || cents } };
    }
  }

  /** Sends a request until it is answered. */
  private async write(name: string, { method = 'POST', path, body }: Wish): Promise<{ status: number; body: unknown }> {
    for (let attempt = 0; ; attempt++) {
      const headers = {
        ...{ Authorization: `Token token=${this.key}`, 'X-Request-Id': `${name}.${attempt}` },
        ...(method === 'POST' && { 'Idempotency-Key': name }),
        ...(body && { 'Content-Type': 'application/json' }),
      };
      const request = { method, headers, ...(body && { body: JSON.stringify(body) }) };
      const answer = await fetch(`http://127.0.0.1:${this.target.port()}${path}`, request)
        .then(async (response) => ({ status: response.status, text: await response.text() }))
        .catch(() => null);
      const unanswered = !answer || answer.status === 503 || answer.text.includes('idempotency_key_in_use');
      if (!unanswered && answer.status < 500) return { status: answer.status, body: answer.text ? JSON.parse(answer.text) : null };
      // Without kills, nothing breaks.
      if (!unanswered || !this.target.strike) throw new Error(`${name} of ${path}: ${JSON.stringify(answer)}`);
      this.target.failures++;
      await sleep(RETRY_MS);
    }
  }
}

/** The {@link CORPUS}, and random histories by up to eight clients at once. */
export async function findWrongMoney(api: TestApi, { target, ...run }: Run & { target?: Target }): Promise<string | null> {
  const { port } = api.server.address() as { port: number };
  return findFault(
    history,
    async (rounds) => {
      const one = await Organization.open(api, target ?? { port: () => port, failures: 0 });
      for (const commands of rounds) await one.round(commands);
    },
    { ...run, runs: CORPUS.length + run.runs },
    { corpus: CORPUS },
  );
}
