import type pg from 'pg';
import type { DataSource } from 'typeorm';
import { v7 as uuidv7 } from 'uuid';
import type { Tables } from '../database/tables.js';
import type { TestDatabase } from '../database/database.js';
import { connectPatiently } from '../database/patient-connection.js';
import { type Row, SampleRows, toColumns } from './sample-rows.js';

type User = Tables['users'];
type Wish<T extends keyof Tables> = Partial<Tables[T]>;

/** A membership of an existing login (by id) or of a new one with these values. */
export type MemberWish = Wish<'members'> & { user?: Partial<User> };
export type TutorWish = MemberWish & { profile?: Wish<'tutor_profiles'> };
export type ParentWish = Wish<'parents'> & { user?: Partial<User>; children?: string[] };
export type ConversationWish = Wish<'conversations'> & { participants?: string[] };

const HOUR = 3_600_000;

/** The names of prepared statements. */
const names = new Map<string, string>();

/**
 * Creates rows, bypassing row-level security. {@link row} takes any table and fills in its required columns. The other
 * methods also create the rows that a record depends on; those for people return the login.
 */
export class Factories {
  /** The ids of all rows created so far. */
  readonly made = new Set<string>();

  private constructor(
    readonly db: DataSource,
    readonly samples: SampleRows,
  ) {}

  static async connect(database: Pick<TestDatabase, 'adminUrl'>): Promise<Factories> {
    const db = await connectPatiently({ url: database.adminUrl, poolSize: 4, applicationName: 'factories' });
    return new Factories(db, await SampleRows.read((sql) => db.query(sql)));
  }

  async close(): Promise<void> {
    await this.db.destroy();
  }

  /** Creates a row. `writing` is the organization that makes the request. @returns the row as stored */
  async row<T extends keyof Tables>(table: T, row: Partial<Tables[T]>, writing = ''): Promise<Tables[T]> {
    const [stored] = await this.rows(table, [row], writing);
    return stored!;
  }

  /** Creates rows with the same columns, in one statement. */
  async rows<T extends keyof Tables>(table: T, rows: Partial<Tables[T]>[], writing = ''): Promise<Tables[T][]> {
    const stored = await this.insert(table, rows.map(toColumns), {}, writing);
    return stored.map((row) => this.samples.stored(table, row));
  }

  /**
   * Like {@link rows}, with column names as keys.
   *
   * @param known ids for foreign keys, by column name
   */
  async insert(table: string, rows: Row[], known: Row = {}, writing = ''): Promise<Row[]> {
    // Many sessions of tests take place at the same time.
    const marked = table === 'sessions' ? rows.map((row) => ({ overlap_allowed: true, ...row })) : rows;
    const complete = marked.map((row) => this.samples.complete(table, row, known));
    for (const { id } of complete) if (typeof id === 'string') this.made.add(id);
    const { sql, values } = this.samples.insertion(table, complete);
    const inserted = await (writing
      ? this.db.transaction(async (manager) => {
          await manager.query(`SELECT set_config('app.organization_id', $1, true)`, [writing]);
          return manager.query<{ row: Row }[]>(sql, values);
        })
      : this.prepared(sql, values));
    return inserted.map(({ row }) => row);
  }

  /** Prepared, because parsing and planning would take longer than inserting. */
  private async prepared(sql: string, values: unknown[]): Promise<{ row: Row }[]> {
    const name = names.get(sql) ?? `insert ${names.size}`;
    names.set(sql, name);
    const { master } = this.db.driver as unknown as { master: pg.Pool };
    return (await master.query<{ row: Row }>({ name, text: sql, values })).rows;
  }

  async find<T extends keyof Tables>(table: T, id: string): Promise<Tables[T]> {
    const [found] = await this.query<{ row: Row }>(`SELECT to_jsonb(t) AS row FROM ${table} t WHERE id = $1`, [id]);
    return this.samples.stored(table, found!.row);
  }

  /** Runs any other statement. @returns its rows */
  query<Row = Record<string, unknown>>(sql: string, values: unknown[] = []): Promise<Row[]> {
    return this.db.query<Row[]>(sql, values);
  }

  /** Runs a statement without triggers: derives no values and checks no foreign keys, but still applies CHECKs. */
  async withoutTriggers(statement: string): Promise<void> {
    await this.query(`DO $do$ BEGIN SET LOCAL session_replication_role = replica; ${statement}; END $do$`);
  }

  organization(wish: Wish<'organizations'> = {}) {
    const id = uuidv7();
    return this.row('organizations', { id, name: 'Demo Tutoring', slug: `school-${id}`, ...wish });
  }

  user(wish: Partial<User> = {}): Promise<User> {
    const id = uuidv7();
    const email = `${id}@example.org`;
    const name = { firstName: 'Ada', lastName: 'Lovelace' };
    return this.row('users', { id, email, emailNormalized: (wish.email ?? email).toLowerCase(), ...name, ...wish });
  }

  async member(organizationId: string, { user, ...wish }: MemberWish = {}): Promise<User> {
    const person = await this.person(user);
    await this.row('members', { organizationId, userId: person.id, role: 'student', ...wish });
    return person;
  }

  /** A tutor: a member with a profile. */
  async tutor(organizationId: string, { profile, ...wish }: TutorWish = {}): Promise<User> {
    const person = await this.member(organizationId, { role: 'tutor', ...wish });
    await this.row('tutor_profiles', { organizationId, userId: person.id, ...profile });
    return person;
  }

  student(organizationId: string, wish: MemberWish = {}): Promise<User> {
    return this.member(organizationId, { role: 'student', ...wish });
  }

  /** A parent linked to `children`. The organization cannot see a parent without children. */
  async parent(organizationId: string, { user, children = [], ...wish }: ParentWish = {}): Promise<User> {
    const person = await this.person(user);
    await this.row('parents', { organizationId, userId: person.id, ...wish });
    for (const child of children) await this.link(organizationId, person.id, child);
    return person;
  }

  link(organizationId: string, parentId: string, studentId: string, wish: Wish<'parent_students'> = {}) {
    return this.row('parent_students', { organizationId, parentId, studentId, ...wish });
  }

  subject(organizationId: string, wish: Wish<'subjects'> = {}) {
    const id = uuidv7();
    return this.row('subjects', { id, organizationId, name: `Subject ${id}`, ...wish });
  }

  rateBand(organizationId: string) {
    const id = uuidv7();
    return this.row('rate_bands', { id, organizationId, name: `Band ${id}` });
  }

  tutorTier(organizationId: string) {
    const id = uuidv7();
    return this.row('tutor_tiers', { id, organizationId, name: `Tier ${id}`, badgeLabel: 'Senior', description: 'Five years' });
  }

  tutorSubject(organizationId: string, userId: string, subjectId: string) {
    return this.row('tutor_subjects', { organizationId, userId, subjectId });
  }

  tutorStudent(organizationId: string, tutorId: string, studentId: string, wish: Wish<'tutor_students'> = {}) {
    return this.row('tutor_students', { organizationId, tutorId, studentId, ...wish });
  }

  classroom(organizationId: string, wish: Wish<'classrooms'> = {}) {
    return this.row('classrooms', { organizationId, name: 'Room 1', ...wish });
  }

  classroomMember(organizationId: string, classroomId: string, userId: string, role: 'teacher' | 'student' = 'student') {
    return this.row('classroom_members', { organizationId, classroomId, userId, role });
  }

  /** A group owned by the organization; null creates a group of `tutorId` without an owner. */
  group(ownerOrganizationId: string | null, wish: Wish<'student_groups'> = {}) {
    return this.row('student_groups', { ownerOrganizationId, name: 'Tuesday group', ...wish });
  }

  groupMember(groupId: string, userId: string, wish: Wish<'student_group_members'> = {}) {
    return this.row('student_group_members', { groupId, userId, role: 'student', ...wish });
  }

  /** A session of one hour by default. */
  session(organizationId: string, wish: Wish<'sessions'> = {}) {
    const { startsAt = new Date('2026-03-02T09:00:00Z'), durationMinutes = 60 } = wish;
    const endsAt = new Date(startsAt.getTime() + (durationMinutes / 60) * HOUR);
    return this.row('sessions', { organizationId, startsAt, endsAt, durationMinutes, ...wish });
  }

  participant(organizationId: string, sessionId: string, studentId: string, wish: Wish<'lesson_participants'> = {}) {
    return this.row('lesson_participants', { organizationId, sessionId, studentId, ...wish });
  }

  /** Homework. Its other values determine its organization; `writing` is the organization that makes the request. */
  homework(assignedBy: string, wish: Wish<'homework'> = {}, writing?: string) {
    const text = { title: 'Fractions', homeworkType: 'text' as const, scope: 'student' as const };
    return this.row('homework', { assignedBy, ...text, ...wish }, writing);
  }

  /** Feedback, stamped with the organization of its session, or of the request without one. `legacy` rows have none. */
  feedback(organizationId: string, tutorId: string, wish: Wish<'session_feedback'> = {}) {
    return this.row('session_feedback', { tutorId, rating: 5, ...wish }, organizationId);
  }

  result(studentId: string, wish: Wish<'results'> = {}) {
    return this.row('results', { studentId, status: 'completed', mode: 'sac', ...wish });
  }

  async conversation({ participants = [], ...wish }: ConversationWish = {}) {
    const conversation = await this.row('conversations', { type: 'direct', ...wish });
    for (const person of participants) await this.seat(conversation.id, person);
    return conversation;
  }

  seat(conversationId: string, userId: string, wish: Wish<'conversation_participants'> = {}) {
    return this.row('conversation_participants', { conversationId, userId, role: 'teacher', ...wish });
  }

  /** Written in the name of the first organization that sees the conversation, unless another one is given. */
  async message(conversationId: string, wish: Wish<'messages'> = {}) {
    const sees = 'SELECT organization_id AS id FROM organization_conversations WHERE conversation_id = $1 ORDER BY 1 LIMIT 1';
    const [first] = await this.query<{ id: string }>(sees, [conversationId]);
    return this.row('messages', { conversationId, organizationId: first?.id, content: 'Hello', ...wish });
  }

  adjustment(organizationId: string, tutorId: string, wish: Wish<'adjustments'> = {}) {
    const period = { periodStart: '2026-03-01', periodEnd: '2026-03-31' };
    return this.row('adjustments', { organizationId, tutorId, ...period, amountCents: 5000, ...wish });
  }

  invoice(organizationId: string, studentId: string, wish: Wish<'invoices'> = {}) {
    const id = uuidv7();
    const money = { amountDueCents: 8500, amountPaidCents: 0, currency: 'AUD', status: 'open' as const };
    return this.row('invoices', { id, organizationId, studentId, invoiceNumber: id, ...money, ...wish });
  }

  loggedRequest(organizationId: string, wish: Wish<'request_log'> = {}) {
    const request = { method: 'GET', route: '/v1/students', status: 200, durationMs: 2.5, requestId: 'logged' };
    return this.row('request_log', { organizationId, apiKeyId: uuidv7(), createdAt: new Date(), ...request, ...wish });
  }

  invoiceLine(organizationId: string, invoiceId: string, wish: Wish<'invoice_lines'> = {}) {
    const money = { position: 0, quantity: 1, unitAmountCents: 8500, amountCents: 8500 };
    return this.row('invoice_lines', { organizationId, invoiceId, ...money, ...wish });
  }

  payment(organizationId: string, wish: Wish<'payments'> = {}) {
    const money = { amountCents: 8500, currency: 'AUD', paymentType: 'card' as const, status: 'succeeded' as const };
    return this.row('payments', { organizationId, ...money, ...wish });
  }

  mileage(organizationId: string, tutorId: string, wish: Wish<'mileage_trips'> = {}) {
    const trip = { tripDate: '2026-03-02', distanceKm: 12.5, amountCents: 1100 };
    return this.row('mileage_trips', { organizationId, tutorId, ...trip, ...wish });
  }

  expense(organizationId: string, tutorId: string, wish: Wish<'expense_claims'> = {}) {
    const claim = { expenseDate: '2026-03-02', amountCents: 1250 };
    return this.row('expense_claims', { organizationId, tutorId, ...claim, ...wish });
  }

  /** The organization's draft, or the platform's if null. */
  post(organizationId: string | null, wish: Wish<'blog_posts'> = {}) {
    const id = uuidv7();
    return this.row('blog_posts', { id, organizationId, brand: 'primary', title: 'News', slug: `news-${id}`, ...wish });
  }

  private person(wish: Partial<User> = {}): Promise<User> {
    return wish.id ? this.find('users', wish.id) : this.user(wish);
  }
}
