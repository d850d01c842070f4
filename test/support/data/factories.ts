import type { DataSource, EntityManager, EntityTarget, ObjectLiteral } from 'typeorm';
import { v7 as uuidv7 } from 'uuid';
import {
  Adjustment,
  BlogPost,
  Classroom,
  ClassroomMember,
  connect,
  Conversation,
  ConversationParticipant,
  ExpenseClaim,
  Homework,
  Invoice,
  InvoiceLine,
  Member,
  Message,
  MileageTrip,
  Organization,
  Parent,
  ParentStudent,
  Payment,
  Result,
  Session,
  SessionFeedback,
  SessionParticipant,
  StudentGroup,
  StudentGroupMember,
  Subject,
  TutorProfile,
  TutorStudent,
  TutorSubject,
  User,
} from '@app/database';
import type { TestDatabase } from '../database/database.js';

/** A membership of an existing login (by id) or of a new one with these values. */
export type MemberWish = Partial<Member> & { user?: Partial<User> };
export type TutorWish = MemberWish & { profile?: Partial<TutorProfile> };
export type ParentWish = Partial<Parent> & { user?: Partial<User>; children?: string[] };
export type ConversationWish = Partial<Conversation> & { participants?: string[] };

const HOUR = 3_600_000;

/**
 * Creates rows, bypassing row-level security. One function per table, with defaults for everything the test does not care
 * about. Each returns the row's values, including its id; people are returned as their login.
 */
export class Factories {
  /** The ids of all rows so far. */
  readonly made = new Set<string>();

  private constructor(readonly db: DataSource) {}

  static async connect(database: Pick<TestDatabase, 'adminUrl'>): Promise<Factories> {
    return new Factories(
      await connect({ url: database.adminUrl, poolSize: 4, applicationName: 'factories', timeouts: false }),
    );
  }

  async close(): Promise<void> {
    await this.db.destroy();
  }

  /** Inserts rows as given, in one statement. */
  async insert<E extends ObjectLiteral>(entity: EntityTarget<E>, rows: Partial<E>[]): Promise<void> {
    if (rows.length > 0) await this.db.manager.insert(entity, rows);
  }

  /** Runs any other statement. @returns its rows */
  query<Row = Record<string, unknown>>(sql: string, values: unknown[] = []): Promise<Row[]> {
    return this.db.query<Row[]>(sql, values);
  }

  /** Runs a statement without triggers: nothing is derived, foreign keys are not checked, CHECKs are. */
  async withoutTriggers(statement: string): Promise<void> {
    await this.query(`DO $do$ BEGIN SET LOCAL session_replication_role = replica; ${statement}; END $do$`);
  }

  organization(wish: Partial<Organization> = {}): Promise<Organization> {
    const id = uuidv7();
    return this.add(Organization, { id, name: 'Demo Tutoring', slug: `school-${id}`, ...wish });
  }

  user(wish: Partial<User> = {}): Promise<User> {
    const id = uuidv7();
    const email = `${id}@example.org`;
    const name = { firstName: 'Ada', lastName: 'Lovelace' };
    return this.add(User, { id, email, emailNormalized: (wish.email ?? email).toLowerCase(), ...name, ...wish });
  }

  async member(organizationId: string, { user, ...wish }: MemberWish = {}): Promise<User> {
    const person = await this.person(user);
    await this.add(Member, { id: uuidv7(), organizationId, userId: person.id, role: 'student', ...wish });
    return person;
  }

  /** A tutor: a member with a profile. */
  async tutor(organizationId: string, { profile, ...wish }: TutorWish = {}): Promise<User> {
    const person = await this.member(organizationId, { role: 'tutor', ...wish });
    await this.add(TutorProfile, { organizationId, userId: person.id, ...profile });
    return person;
  }

  student(organizationId: string, wish: MemberWish = {}): Promise<User> {
    return this.member(organizationId, { role: 'student', ...wish });
  }

  /** A parent linked to `children`. Without children the organization does not see the parent. */
  async parent(organizationId: string, { user, children = [], ...wish }: ParentWish = {}): Promise<User> {
    const person = await this.person(user);
    await this.add(Parent, { organizationId, userId: person.id, ...wish });
    for (const child of children) await this.link(organizationId, person.id, child);
    return person;
  }

  link(
    organizationId: string,
    parentId: string,
    studentId: string,
    wish: Partial<ParentStudent> = {},
  ): Promise<ParentStudent> {
    return this.add(ParentStudent, { organizationId, parentId, studentId, ...wish });
  }

  subject(organizationId: string, wish: Partial<Subject> = {}): Promise<Subject> {
    const id = uuidv7();
    return this.add(Subject, { id, organizationId, name: `Subject ${id}`, ...wish });
  }

  tutorSubject(organizationId: string, userId: string, subjectId: string): Promise<TutorSubject> {
    return this.add(TutorSubject, { organizationId, userId, subjectId });
  }

  tutorStudent(
    organizationId: string,
    tutorId: string,
    studentId: string,
    wish: Partial<TutorStudent> = {},
  ): Promise<TutorStudent> {
    return this.add(TutorStudent, { id: uuidv7(), organizationId, tutorId, studentId, ...wish });
  }

  classroom(organizationId: string, wish: Partial<Classroom> = {}): Promise<Classroom> {
    return this.add(Classroom, { id: uuidv7(), organizationId, name: 'Room 1', ...wish });
  }

  classroomMember(
    organizationId: string,
    classroomId: string,
    userId: string,
    role: 'teacher' | 'student' = 'student',
  ): Promise<ClassroomMember> {
    return this.add(ClassroomMember, { id: uuidv7(), organizationId, classroomId, userId, role });
  }

  /** A group owned by the organization; with null, a group of `tutorId` without an owner. */
  group(ownerOrganizationId: string | null, wish: Partial<StudentGroup> = {}): Promise<StudentGroup> {
    return this.add(StudentGroup, { id: uuidv7(), ownerOrganizationId, name: 'Tuesday group', ...wish });
  }

  groupMember(groupId: string, userId: string, wish: Partial<StudentGroupMember> = {}): Promise<StudentGroupMember> {
    return this.add(StudentGroupMember, { id: uuidv7(), groupId, userId, role: 'student', ...wish });
  }

  /** A session of one hour by default. */
  session(organizationId: string, wish: Partial<Session> = {}): Promise<Session> {
    const { startsAt = new Date('2026-03-02T09:00:00Z'), durationMinutes = 60 } = wish;
    const endsAt = new Date(startsAt.getTime() + (durationMinutes / 60) * HOUR);
    return this.add(Session, { id: uuidv7(), organizationId, startsAt, endsAt, durationMinutes, ...wish });
  }

  participant(
    organizationId: string,
    sessionId: string,
    studentId: string,
    wish: Partial<SessionParticipant> = {},
  ): Promise<SessionParticipant> {
    return this.add(SessionParticipant, { id: uuidv7(), organizationId, sessionId, studentId, ...wish });
  }

  /** Homework; its organization is derived from the wish. `writing` is the organization whose request it is. */
  homework(assignedBy: string, wish: Partial<Homework> = {}, writing?: string): Promise<Homework> {
    const text = { title: 'Fractions', homeworkType: 'text' as const, scope: 'student' as const };
    return this.add(Homework, { id: uuidv7(), assignedBy, ...text, ...wish }, writing);
  }

  /** Feedback, stamped with its session's organization or else with the writing one. A `legacy` row has none. */
  feedback(organizationId: string, tutorId: string, wish: Partial<SessionFeedback> = {}): Promise<SessionFeedback> {
    return this.add(SessionFeedback, { id: uuidv7(), tutorId, rating: 5, ...wish }, organizationId);
  }

  result(studentId: string, wish: Partial<Result> = {}): Promise<Result> {
    return this.add(Result, { id: uuidv7(), studentId, status: 'completed', mode: 'sac', ...wish });
  }

  async conversation({ participants = [], ...wish }: ConversationWish = {}): Promise<Conversation> {
    const conversation = await this.add(Conversation, { id: uuidv7(), type: 'direct', ...wish });
    for (const person of participants) await this.seat(conversation.id, person);
    return conversation;
  }

  seat(
    conversationId: string,
    userId: string,
    wish: Partial<ConversationParticipant> = {},
  ): Promise<ConversationParticipant> {
    return this.add(ConversationParticipant, { id: uuidv7(), conversationId, userId, role: 'tutor', ...wish });
  }

  message(conversationId: string, wish: Partial<Message> = {}): Promise<Message> {
    return this.add(Message, { id: uuidv7(), conversationId, content: 'Hello', ...wish });
  }

  adjustment(organizationId: string, tutorId: string, wish: Partial<Adjustment> = {}): Promise<Adjustment> {
    const period = { periodStart: '2026-03-01', periodEnd: '2026-03-31' };
    return this.add(Adjustment, { id: uuidv7(), organizationId, tutorId, ...period, amountCents: 5000, ...wish });
  }

  invoice(organizationId: string, studentId: string, wish: Partial<Invoice> = {}): Promise<Invoice> {
    const id = uuidv7();
    const money = { amountDueCents: 8500, amountPaidCents: 0, currency: 'AUD', status: 'open' as const };
    return this.add(Invoice, { id, organizationId, studentId, invoiceNumber: id, ...money, ...wish });
  }

  invoiceLine(organizationId: string, invoiceId: string, wish: Partial<InvoiceLine> = {}): Promise<InvoiceLine> {
    const money = { position: 0, quantity: 1, unitAmountCents: 8500, amountCents: 8500 };
    return this.add(InvoiceLine, { id: uuidv7(), organizationId, invoiceId, ...money, ...wish });
  }

  payment(organizationId: string, wish: Partial<Payment> = {}): Promise<Payment> {
    const money = { amountCents: 8500, currency: 'AUD', paymentType: 'card' as const, status: 'succeeded' as const };
    return this.add(Payment, { id: uuidv7(), organizationId, ...money, ...wish });
  }

  mileage(organizationId: string, tutorId: string, wish: Partial<MileageTrip> = {}): Promise<MileageTrip> {
    const trip = { tripDate: '2026-03-02', distanceKm: 12.5 };
    return this.add(MileageTrip, { id: uuidv7(), organizationId, tutorId, ...trip, ...wish });
  }

  expense(organizationId: string, tutorId: string, wish: Partial<ExpenseClaim> = {}): Promise<ExpenseClaim> {
    const claim = { expenseDate: '2026-03-02', amountCents: 1250 };
    return this.add(ExpenseClaim, { id: uuidv7(), organizationId, tutorId, ...claim, ...wish });
  }

  /** A draft of the organization, or of the platform if null. */
  post(organizationId: string | null, wish: Partial<BlogPost> = {}): Promise<BlogPost> {
    const id = uuidv7();
    return this.add(BlogPost, { id, organizationId, brand: 'primary', title: 'News', slug: `news-${id}`, ...wish });
  }

  private person(wish: Partial<User> = {}): Promise<User> {
    return wish.id ? this.db.manager.findOneByOrFail(User, { id: wish.id }) : this.user(wish);
  }

  /** Inserts a row. @returns it as stored */
  private async add<E extends ObjectLiteral>(entity: new () => E, row: Partial<E>, writing?: string): Promise<E> {
    if (typeof row.id === 'string') this.made.add(row.id);
    const insert = async (manager: EntityManager): Promise<E> => {
      const query = manager.createQueryBuilder().insert().into(entity).values(row).returning('*').updateEntity(false);
      const [stored] = (await query.execute()).raw as Record<string, unknown>[];
      const { columns } = this.db.getMetadata(entity);
      const values = columns.map((column) => [
        column.propertyName,
        this.db.driver.prepareHydratedValue(stored![column.databaseName], column) as unknown,
      ]);
      return Object.assign(new entity(), Object.fromEntries(values) as E);
    };
    if (!writing) return insert(this.db.manager);
    return this.db.transaction(async (manager) => {
      await manager.query(`SELECT set_config('app.organization_id', $1, true)`, [writing]);
      return insert(manager);
    });
  }
}
