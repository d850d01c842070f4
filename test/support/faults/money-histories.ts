import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { MoneyFixture, type ShownInvoice } from '../data/money-fixture.js';
import { difference } from '../database/difference.js';
import type { TestApi } from '../http/api.js';
import { MoneyBooks, shownOf, sum, toldOf } from './money-books.js';
import { type Answer, type Command, history, methodOf, PATHS, type People, type Wish, wishOf } from './money-commands.js';

const RETRY_MS = 20;

const does = (kind: Command['kind'], cents: number, variant = 0): Command[] => [{ kind, which: 0, variant, cents }];

/** Histories that always run, because random ones find their bug only sometimes. */
const CORPUS: Command[][][] = [
  // A payment of 2,800 pays an invoice of 1,000, then one that is due a day later. 500 are refunded, and taken from the later one.
  [does('draft', 1_000), does('finalize', 4), does('draft', 2_001), does('finalize', 5), does('pay', 1_400, 1), does('refund', 500, 1)],
];

/** The API that is written to: where it listens now, and what is done to it while a round is under way. */
export interface Target {
  port(): number;
  /** Called when the requests of a round have been sent. */
  strike?(): Promise<void>;
  /** How often a request was not answered. */
  failures: number;
}

/** A request that was sent under this name until it was answered. */
interface Entry {
  name: string;
  wish: Wish;
  answer: Answer;
}

/** One organization, whose money is compared with the books. */
class History {
  private readonly books: MoneyBooks;
  private rounds = 0;
  /** The invoices after the last round. */
  private shown: ShownInvoice[] = [];

  private constructor(
    private readonly api: TestApi,
    private readonly target: Target,
    private readonly school: string,
    private readonly key: string,
    private readonly people: People,
    families: Map<string, string[]>,
  ) {
    this.books = new MoneyBooks(families);
  }

  /** P1 is the parent of the first two students, P2 of the last two. */
  static async open(api: TestApi, target: Target): Promise<History> {
    const { calendar, parent } = await MoneyFixture.open(api);
    const { school, students, t1, t2 } = calendar;
    const key = await api.key(school, { scopes: ['read', 'sessions:write', 'payments:write', 'payroll:write'] });
    const { id: other } = await api.make.parent(school, { children: students.slice(1) });
    const families = new Map([
      [parent, students.slice(0, 2)],
      [other, students.slice(1)],
    ]);
    return new History(api, target, school, key, { tutors: [t1, t2], students, parents: [parent, other] }, families);
  }

  /** @throws Error for whatever was answered, or is shown now, that the books do not say */
  async round(commands: readonly Command[]): Promise<void> {
    const round = ++this.rounds;
    const wishes = commands.map((command) => wishOf(command, this.books, this.shown, this.people));
    const answers = Promise.all(wishes.map((wish, index) => this.write(`${this.school}-${round}-${index}`, wish)));
    await this.target.strike?.();
    await this.replay(await answers, round);
    await this.compareInvoices();
  }

  /**
   * Plays back what was answered. The audit log tells in which order: each row was written under the locks of its request. A row
   * whose answer was lost with the process counts too.
   */
  private async replay(entries: readonly Entry[], round: number): Promise<void> {
    const rows = await this.api.make.query<{ request: string }>(
      `SELECT request_id AS request FROM audit_log WHERE organization_id = $1 AND status < 400 AND request_id LIKE $2 ORDER BY id`,
      [this.school, `${this.school}-${round}-%`],
    );
    const done = rows.map(({ request }) => entries.find(({ name }) => request.startsWith(`${name}.`))!);
    const refused = new Set(entries.filter(({ answer }) => answer.status >= 400));
    const judgeRefusals = () => refused.forEach((one) => this.books.verdict(one.wish) === one.answer.status && refused.delete(one));
    judgeRefusals();
    for (const [index, entry] of done.entries()) {
      const answered = entry.answer.status < 400 && !done.includes(entry, index + 1);
      const verdict = this.books.verdict(entry.wish);
      if (verdict >= 400 || (answered && verdict !== entry.answer.status)) throw new Error(`must be ${verdict}: ${told(entry)}`);
      this.books.apply(entry.wish, answered ? entry.answer : null);
      const [right, is] = (answered && this.books.compared(entry.wish, entry.answer)) || [];
      if (!isDeepStrictEqual(is, right)) throw new Error(`must say ${JSON.stringify(right)}: ${told(entry)}`);
      judgeRefusals();
    }
    const [wrong] = refused;
    if (wrong) throw new Error(`refused without a reason: ${told(wrong)}`);
    const lost = entries.find((entry) => entry.answer.status < 400 && !done.includes(entry));
    if (lost) throw new Error(`not in the audit log: ${told(lost)}`);
  }

  private async compareInvoices(): Promise<void> {
    this.shown = (await this.get<{ data: ShownInvoice[] }>('/v1/invoices?limit=100')).data;
    this.books.identify(this.shown);
    const wrong = difference(this.shown.map((one) => JSON.stringify(toldOf(one))), this.books.bills.map((one) => JSON.stringify(shownOf(one)))); // prettier-ignore
    if (wrong.length > 0) throw new Error(`invoices: ${wrong.join(', ')}`);
  }

  /** Compares every balance, credit and earning, and the sums over the organization. */
  async compareSums(): Promise<void> {
    const { bills, money, lessons, adjustments, payouts, families } = this.books;
    for (const [parent, children] of families) {
      const owed = bills.filter(({ status, student }) => ['open', 'paid'].includes(status) && children.includes(student));
      const open = owed.filter(({ status }) => status === 'open');
      const [paid, left] = [owed, open].map((of) => of.reduce((total, bill) => total + bill.paid, 0)) as [number, number];
      const credit = money.filter(({ student, family }) => (student ? children.includes(student) : family === children));
      expect(await this.get(`/v1/parents/${parent}/balance`)).toMatchObject({
        total_invoiced_cents: owed.reduce((total, { lines }) => total + sum(lines), 0),
        total_paid_cents: paid,
        outstanding_cents: open.reduce((total, { lines }) => total + sum(lines), 0) - left,
        open_invoices_count: open.length,
        credit_cents: credit.reduce((total, one) => total + one.credit, 0),
      });
    }
    for (const tutor of this.people.tutors) {
      const taught = [...lessons.values()].filter((lesson) => lesson.tutor === tutor && lesson.status === 'completed');
      const adjusted = sum([...adjustments.values()].filter((one) => one.tutor === tutor && !one.voided));
      const earned = taught.reduce((total, { pay }) => total + pay!, 0) + adjusted;
      const paidOut = sum(payouts.filter((one) => one.tutor === tutor));
      const earnings = { sessions_count: taught.length, earned_cents: earned, paid_out_cents: paidOut, unpaid_cents: earned - paidOut };
      expect(await this.get(`/v1/tutors/${tutor}/earnings`)).toMatchObject(earnings);
    }
    const outstanding = bills.filter(({ status }) => status === 'open').reduce((total, { lines, paid }) => total + sum(lines) - paid, 0);
    const received = money.reduce((total, { cents, refunded }) => total + cents - refunded, 0);
    expect(await this.get('/v1/reports/summary')).toMatchObject({ outstanding_cents: outstanding, settled_this_week_cents: received });
    const stored = await this.api.make.query<{ id: string; credit: string; refunded: string }>(
      `SELECT id, credit_cents AS credit, coalesce(refund_amount_cents, 0) AS refunded FROM payments WHERE organization_id = $1 ORDER BY id`,
      [this.school],
    );
    const right = money.map(({ id, credit, refunded }) => ({ id, credit: String(credit), refunded: String(refunded) }));
    expect(stored).toEqual(right.sort((one, other) => (one.id < other.id ? -1 : 1)));
    for (const part of [...money.map(({ credit }) => credit), ...bills.map(({ paid }) => paid)]) expect(part).toBeGreaterThanOrEqual(0);
  }

  /** Sends a request until it is answered. */
  private async write(name: string, wish: Wish): Promise<Entry> {
    const method = methodOf(wish);
    const once: Record<string, string> = method === 'POST' ? { 'Idempotency-Key': name } : {};
    for (let attempt = 0; ; attempt++) {
      const headers = { ...once, 'X-Request-Id': `${name}.${attempt}` };
      const answer = await this.send(method, PATHS[wish.kind](wish), headers, wish.body).catch(() => null);
      const running = (answer?.body as { error?: { code?: string } } | undefined)?.error?.code === 'idempotency_key_in_use';
      if (answer && answer.status !== 503 && !running) return { name, wish, answer };
      // Without kills, nothing breaks.
      if (!this.target.strike) throw new Error(`${name} of ${JSON.stringify(wish)}: ${JSON.stringify(answer)}`);
      this.target.failures++;
      await sleep(RETRY_MS);
    }
  }

  private async send(method: string, path: string, headers: Record<string, string> = {}, body?: object): Promise<Answer> {
    const answer = await fetch(`http://127.0.0.1:${this.target.port()}${path}`, {
      method,
      headers: { Authorization: `Token token=${this.key}`, ...(body && { 'Content-Type': 'application/json' }), ...headers },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    return { status: answer.status, body: (text ? JSON.parse(text) : {}) as object };
  }

  private async get<Body>(path: string): Promise<Body> {
    const { status, body } = await this.send('GET', path);
    expect([path, status]).toEqual([path, 200]);
    return body as Body;
  }
}

const told = ({ wish, answer }: Entry): string => `${JSON.stringify(wish)}: ${answer.status} ${JSON.stringify(answer.body)}`;

/** Runs the {@link CORPUS}, and random histories by up to eight clients at once. @returns the first difference from the books, and where; null for none */
export async function findWrongMoney(api: TestApi, plan: { seed: number; runs: number; target?: Target }): Promise<string | null> {
  const { port } = api.server.address() as { port: number };
  const { seed, runs, target = { port: () => port, failures: 0 } } = plan;
  const property = fc.asyncProperty(history, async (rounds) => {
    const one = await History.open(api, target);
    for (const commands of rounds) await one.round(commands);
    await one.compareSums();
  });
  const examples = CORPUS.map((rounds): [Command[][]] => [rounds]);
  const numRuns = examples.length + runs;
  const { failed, counterexample, errorInstance } = await fc.check(property, { seed, numRuns, examples, endOnFailure: true });
  return failed ? `${String(errorInstance)} in ${JSON.stringify(counterexample)}` : null;
}
