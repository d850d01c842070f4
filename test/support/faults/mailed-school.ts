import { LESSON_NEWS } from '@app/database';
import { MoneyFixture } from '../data/money-fixture.js';
import type { Random } from '../data/random.js';
import type { FamilyPost } from '../worker/family-post.js';
import type { Received } from '../worker/smtp.js';
import { zoneAt } from '../worker/family-round.js';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** Due dates, each of which has passed one more of the days on which a reminder is sent. */
const DUE_IN_DAYS = [2, -4, -11, -21];

interface Invoice {
  id: string;
  number: string;
  student: string;
  payer: string;
  paidAt: number | null;
}

/** An organization with three students, whose families and tutors are mailed what it has switched on. They have lessons, and pay, and its clock jumps. */
export class MailedSchool {
  /** By the subject, which each lesson has of its own: the session, and the addresses that may ever be told of it. */
  readonly lessons = new Map<string, { id: string; may: Set<string> }>();
  readonly invoices: Invoice[] = [];
  /** Of how many evenings people are told. */
  evenings = 1;
  /** How many thresholds invoices have crossed. */
  crossed = 1;
  /** Of tutors, and of the parents of students. */
  readonly addresses = new Map<string, string>();
  jumps = 0;
  private ahead = false;

  private constructor(
    private readonly post: FamilyPost,
    readonly at: MoneyFixture,
    readonly name: string,
    private zone: string,
    private readonly random: Random,
  ) {}

  /** @param name begins the names of its subjects @param hour of the day there */
  static async open(post: FamilyPost, name: string, hour: number, kind: string, random: Random): Promise<MailedSchool> {
    const { api } = post;
    const { make } = api;
    const at = await MoneyFixture.open(api);
    const school = new MailedSchool(post, at, name, zoneAt(hour), random);
    const { school: id, students, t1, t2 } = at.calendar;
    await make.query('UPDATE organizations SET time_zone = $2 WHERE id = $1', [id, school.zone]);
    const { id: other } = await make.parent(id, { children: students.slice(2) });
    for (const [person, of] of [[at.parent, students[0]], [at.parent, students[1]], [other, students[2]], [t1, t1], [t2, t2]] as const) {
      const [row] = await make.query<{ email: string }>('SELECT email FROM users WHERE id = $1', [person]);
      school.addresses.set(of, row!.email);
    } // prettier-ignore
    await make.query(`INSERT INTO family_switches (organization_id, kind, created_at) SELECT $1, unnest($2::text[]), now() - interval '60 days'`, [
      id,
      [...LESSON_NEWS, kind],
    ]);
    // What is booked before the first round counts as told.
    for (const [student, tutor] of [
      [students[0], t1],
      [students[2], t2],
    ] as const)
      await school.book(school.tomorrow(), tutor, [student]);
    for (const student of students) await school.issue(student);
    return school;
  }

  get id(): string {
    return this.at.calendar.school;
  }

  /** Something happens that families are told of. The lessons of tomorrow stay. */
  async act(): Promise<void> {
    const { random, at } = this;
    const { students, t1, t2 } = at.calendar;
    const tutor = random.pick([t1, t2]);
    const some = students.filter(() => random.chance(0.5));
    const whose = some.length > 0 ? some : [students[0]];
    const [subject, lesson] = random.pick([...this.lessons].slice(2).concat([['', { id: '', may: new Set() }]]));
    const what = random.integer(10);
    const when = new Date(Math.ceil(Date.now() / HOUR) * HOUR + (random.chance(0.2) ? 3 + random.integer(8) : 72 + random.integer(300)) * HOUR).toISOString(); // prettier-ignore
    const allow = { allow_overlap: true };
    if (!subject || what < 2) await this.book(when, tutor, whose);
    else if (what < 6) await at.calendar.put(lesson.id, { starts_at: when, duration_minutes: 60, ...allow });
    else if (what === 6) await this.change(subject, [tutor], (tutor_id) => ({ tutor_id, ...allow }));
    else if (what === 7) await this.change(subject, whose, (_first, student_ids) => ({ student_ids, ...allow }));
    else if (what === 8) await at.calendar.send('post', `/v1/sessions/${lesson.id}/cancel`);
    else await at.calendar.delete(`/v1/sessions/${lesson.id}`);
  }

  /** Somebody pays what is open. */
  async pay(): Promise<void> {
    const open = this.invoices.filter(({ paidAt }) => paidAt === null);
    // Somebody never does.
    if (open.length < 3) return;
    const invoice = this.random.pick(open);
    await this.at.paid(invoice.student, 10_000);
    invoice.paidAt = Date.now();
  }

  /** The next evening comes, if all have been told of this one. */
  async evening(): Promise<void> {
    const next = `WITH next AS (UPDATE family_rounds SET evening_on = evening_on - 1 WHERE organization_id = $1 AND evening_after IS NULL
      AND evening_on = (now() AT TIME ZONE $2)::date RETURNING 1) SELECT FROM next`;
    this.evenings += (await this.post.api.make.query(next, [this.id, this.zone])).length;
  }

  /** Days pass, if all reminders of these are queued: invoices cross the next threshold. */
  async days(): Promise<void> {
    const { make } = this.post.api;
    const [waits] = await make.query<object>(
      `SELECT 1 FROM invoices i WHERE i.organization_id = $1 AND i.status = 'open' AND (
        SELECT count(*) FROM invoice_reminders r WHERE r.organization_id = $1 AND r.invoice_id = i.id) < $2`,
      [this.id, this.crossed],
    );
    if (waits || this.crossed === DUE_IN_DAYS.length) return;
    const days = DUE_IN_DAYS[this.crossed - 1]! - DUE_IN_DAYS[this.crossed++]!;
    await make.query(
      `WITH reminded AS (UPDATE invoice_reminders SET due_date = due_date - $2::integer WHERE organization_id = $1)
        UPDATE invoices SET due_date = due_date - $2::integer WHERE organization_id = $1`,
      [this.id, days],
    );
  }

  /** An hour passes for what is done once an hour. */
  async hour(): Promise<void> {
    await this.post.api.make.query('UPDATE family_rounds SET reminded_at = NULL WHERE organization_id = $1', [this.id]);
  }

  /** Ten minutes pass for what is gathered, and pauses and leases are over. @param alive LIKE patterns of the leases that stay */
  async later(alive: string[]): Promise<void> {
    const { make } = this.post.api;
    await make.query(`UPDATE lesson_tellings SET mail_at = now() - interval '1 second' WHERE organization_id = $1 AND mail_at > now()`, [this.id]);
    await make.query(
      `UPDATE outbox SET due_at = now() - interval '1 second', leased_until = NULL WHERE organization_id = $1
        AND status IN ('queued', 'failed') AND (leased_by IS NULL OR leased_by NOT LIKE ALL ($2))`,
      [this.id, alive],
    );
  }

  /** The clock of the database jumps an hour: all that it has noted is another hour away, and it is another hour of the day. */
  async jump(ahead: boolean, alive: string[]): Promise<void> {
    if (ahead === this.ahead) return;
    this.ahead = ahead;
    this.jumps++;
    const { make } = this.post.api;
    const [, sign = '-', hours = '0'] = /GMT([-+])(\d+)/.exec(this.zone) ?? [];
    const east = sign === '-' ? Number(hours) : -Number(hours);
    const by = ahead ? 1 : -1;
    this.zone = zoneOf(east + by);
    await make.query('UPDATE organizations SET time_zone = $2 WHERE id = $1', [this.id, this.zone]);
    const values = [this.id, `${by} hours`];
    await make.query('UPDATE family_rounds SET reminded_at = reminded_at - $2::interval WHERE organization_id = $1', values);
    await make.query('UPDATE lesson_tellings SET mail_at = mail_at - $2::interval WHERE organization_id = $1', values);
    await make.query(
      `UPDATE outbox SET due_at = due_at - $2::interval, created_at = created_at - $2::interval, family_at = family_at - $2::interval,
        leased_until = leased_until - $2::interval WHERE organization_id = $1 AND (leased_by IS NULL OR leased_by NOT LIKE ALL ($3))`,
      [...values, alive],
    );
  }

  /** Whether all that has happened is looked at, and nothing is to be sent. */
  async rests(): Promise<boolean> {
    const [row] = await this.post.api.make.query<{ rests: boolean }>(
      `SELECT NOT EXISTS (SELECT FROM event_changes WHERE organization_id = $1)
        AND NOT EXISTS (SELECT FROM outbox WHERE organization_id = $1 AND status IN ('queued', 'failed'))
        AND NOT EXISTS (SELECT FROM family_rounds WHERE organization_id = $1 AND (evening_after IS NOT NULL
          OR reminded_at IS NULL AND EXISTS (SELECT FROM family_switches WHERE organization_id = $1 AND kind = 'reminders')
          OR coalesce(position, -1) < (SELECT coalesce(max(number), 0) FROM events WHERE organization_id = $1))) AS rests`,
      [this.id],
    );
    return row!.rests;
  }

  /** When the lessons begin that somebody has, by subject. */
  async has(address: string): Promise<Record<string, string>> {
    const sessions = (await this.at.calendar.sessions()).filter(({ status }) => status === 'scheduled');
    const subjects = new Map([...this.lessons].map(([subject, { id }]) => [id, subject]));
    const found = await Promise.all(
      sessions.map(async ({ id, tutor_id, starts_at }) => {
        const taking = (await this.at.participants(id)).filter(({ status }) => status === 'accepted' || status === 'pending');
        const people = [tutor_id!, ...taking.map(({ student_id }) => student_id)];
        return people.some((one) => this.addresses.get(one) === address) ? [[subjects.get(id)!, new Date(starts_at).toISOString()]] : [];
      }),
    );
    return Object.fromEntries(found.flat()) as Record<string, string>;
  }

  private tomorrow(): string {
    return new Date(Math.ceil(Date.now() / HOUR) * HOUR + DAY).toISOString();
  }

  private async book(startsAt: string, tutor_id: string, student_ids: string[]): Promise<void> {
    const name = `${this.name}${this.lessons.size}`;
    const { id: subject_id } = await this.post.api.make.row('subjects', { organizationId: this.id, name });
    const { status, body } = await this.at.calendar.book(startsAt, { tutor_id, student_ids, subject_id, allow_overlap: true });
    if (status !== 201) throw new Error(`${status} ${JSON.stringify(body)}`);
    this.lessons.set(name, { id: body.id, may: this.addressesOf([tutor_id, ...student_ids]) });
  }

  private async change(subject: string, people: string[], body: (first: string, all: string[]) => object): Promise<void> {
    const { id, may } = this.lessons.get(subject)!;
    for (const address of this.addressesOf(people)) may.add(address);
    await this.at.calendar.put(id, body(people[0]!, people));
  }

  private addressesOf(people: string[]): Set<string> {
    return new Set(people.map((one) => this.addresses.get(one)!));
  }

  private async issue(student: string): Promise<void> {
    const { id, invoice_number: number } = await this.at.issued(student, 10_000);
    await this.post.api.make.query(
      `UPDATE invoices SET due_date = (now() AT TIME ZONE $2)::date + $3::integer, sent_at = now() - interval '50 days' WHERE id = $1`,
      [id, this.zone, DUE_IN_DAYS[0]],
    );
    this.invoices.push({ id, number: number!, student, payer: this.addresses.get(student)!, paidAt: null });
  }
}

const zoneOf = (east: number) => (east === 0 ? 'UTC' : `Etc/GMT${east > 0 ? '-' : '+'}${Math.abs(east)}`);

/** What a reader believes after mails: when their lessons begin, by subject. The last that is said of a lesson counts. */
export class Believer {
  private readonly begins: Map<string, string>;

  constructor(knows: Record<string, string>) {
    this.begins = new Map(Object.entries(knows));
  }

  get lessons(): Record<string, string> {
    return Object.fromEntries(this.begins);
  }

  hear({ text, at }: Received): void {
    for (const [, verb, subject, rest] of text.matchAll(/^- (Booked|Changed|Cancelled): (\w+)[ ,](.*)$/gm)) {
      if (verb === 'Cancelled') this.begins.delete(subject!);
      else this.begins.set(subject!, beginOf(rest!, at));
    }
  }
}

/** `..., Tuesday 3 December, 4:00 pm to 5:00 pm GMT+11. It was ...` */
function beginOf(line: string, now: number): string {
  const [, day, time, zone] = /\w+day (\d+ \w+), (\d+:\d\d\s[ap]m) to \d+:\d\d\s[ap]m (\S+?)(?:\.|$)/.exec(line.replaceAll('\u202f', ' '))!;
  const [, sign = '+', hours = '0'] = /([-+])(\d+)/.exec(zone!) ?? [];
  const year = new Date(now).getUTCFullYear();
  const at = [year, year + 1].map((one) => Date.parse(`${day} ${one} ${time} GMT${sign}${hours.padStart(2, '0')}00`));
  return new Date(at[0]! > now - DAY ? at[0]! : at[1]!).toISOString();
}
