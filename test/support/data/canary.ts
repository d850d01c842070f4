import { v7 as uuidv7 } from 'uuid';
import { ERASING } from '@app/database';
import type { Column } from '../database/columns.js';
import type { Factories } from './factories.js';
import type { Row } from './sample-rows.js';

/** Columns that can hold a text of anybody's. */
const isFree = ({ type, values, generated, reference }: Column) => /^(text|text\[\]|jsonb?)$/.test(type) && !values && !generated && !reference;

/** A member or parent who is in everything. */
export interface Somebody {
  id: string;
  email: string;
  mark: string;
}

/** Marks everything of a person in every column of the schema that can hold a text, so that it can be looked for. */
export class Canary {
  constructor(
    private readonly make: Factories,
    private readonly columns: Column[],
  ) {}

  /** @param login of one who is known elsewhere, too, and belongs here */
  async somebody(organizationId: string, mark: string, login?: Somebody): Promise<Somebody> {
    const email = login?.email ?? `${mark.toLowerCase()}@example.org`;
    const user = login ?? (await this.make.user({ email, firstName: `${mark} First`, lastName: `${mark} Last`, phone: '0400 000 000' }));
    const [status, acceptedAt] = [login ? ('accepted' as const) : ('archived' as const), new Date('2026-01-01')];
    await this.make.row('members', { organizationId, userId: user.id, role: 'tutor', status, acceptedAt });
    await this.make.row('parents', { organizationId, userId: user.id, status: 'archived' });
    await this.make.row('tutor_profiles', { organizationId, userId: user.id });
    return { id: user.id, email, mark };
  }

  /** The column that each mark was written into, and the one of its row that names the person. */
  readonly written = new Map<string, { table: string; name: string; by?: string }>();
  private static numbers = 0;
  private readonly marked = new Set<string>();

  /** A row for each column that names somebody, with their mark in whatever can hold a text. */
  async mark(organizationId: string, person: Somebody, other: Somebody): Promise<void> {
    const room = (await this.make.classroom(organizationId)).id;
    const group = (await this.make.group(organizationId)).id;
    const session = (await this.make.session(organizationId)).id;
    const invite = uuidv7();
    await this.make.insert('invites', [{ id: invite, email: 'else@example.org', expires_at: '2100-01-01' }], { organization_id: organizationId });
    const conversation = (await this.make.conversation({ type: 'group', participants: [other.id] })).id;
    const child = (await this.make.student(organizationId)).id;
    const subject = (await this.make.subject(organizationId, { name: `Subject ${++Canary.numbers}` })).id;
    const known: Row = {
      ...{ organization_id: organizationId, user_id: other.id, tutor_id: other.id, student_id: child, parent_id: other.id },
      ...{ assigned_by: other.id, classroom_id: room, group_id: group, session_id: session, invite_id: invite, subject_id: subject },
      ...{ conversation_id: conversation, made_by_organization_id: organizationId },
    };
    const again = this.marked.has(person.id);
    this.marked.add(person.id);
    for (const [table, { names = {}, own: whose }] of Object.entries(ERASING)) {
      // What a login has once.
      if (again && whose === 'gone') continue;
      if (['users', 'members', 'parents', 'tutor_profiles', 'erasures', 'holds'].includes(table)) continue;
      for (const column of [...Object.keys(names), ...(table === 'invites' ? ['target_id'] : [])]) {
        const own = this.columns.some((one) => one.table === table && one.name === 'organization_id') ? { organization_id: organizationId } : {};
        const id = this.columns.some((one) => one.table === table && one.name === 'id') ? { id: uuidv7() } : {};
        const row = { ...id, ...own, ...this.shapeOf(table, column, known), [column]: person.id };
        const [stored] = await this.make.insert(table, [row], known, organizationId);
        await this.fill(table, stored!, person.mark, { by: column });
      }
    }
    for (const [table, row] of this.rowsByAddress(organizationId, person)) {
      const [stored] = await this.make.insert(table, [row], known);
      await this.fill(table, stored!, person.mark, { given: Object.keys(row) });
    }
    for (const table of ['members', 'parents', 'tutor_profiles']) {
      const [stored] = await this.make.query<{ row: Row }>(`SELECT to_jsonb(t) AS row FROM ${table} t WHERE user_id = $1 AND organization_id = $2`, [
        person.id,
        organizationId,
      ]);
      await this.fill(table, stored!.row, person.mark);
    }
  }

  /** What a row needs besides, by the column that names the person. */
  private shapeOf(table: string, column: string, known: Row): Row {
    if (table === 'lesson_plans') return column === 'student_id' ? { scope: 'student' } : { scope: 'student', student_id: known.student_id };
    if (table === 'files') return column === 'student_id' ? { scope: 'private', owner_id: known.tutor_id } : { scope: 'org' };
    // Without a class it is of whichever organization its author belongs to.
    if (table === 'homework') return { classroom_id: known.classroom_id };
    if (table === 'locations') return { owner_type: column === 'tutor_id' ? 'tutor' : 'student' };
    if (table === 'payments' && column === 'tutor_id') return { student_id: known.student_id };
    if (table === 'invites') return { expires_at: '2100-01-01', ...(column === 'target_id' && { scope: 'account', role: 'student' }) };
    if (table === 'invoices') return { student_id: known.student_id, invoice_number: uuidv7(), status: 'draft' };
    if (table === 'messages') return { conversation_id: known.conversation_id };
    if (table === 'student_groups') return { owner_organization_id: known.organization_id };
    if (table === 'sessions') return { overlap_allowed: true };
    if (table === 'parent_students' && column === 'student_id') return { parent_id: known.parent_id };
    if (table === 'conversation_participants') return { left_at: '2026-05-01T00:00:00Z' };
    return {};
  }

  /** Rows of somebody that no column names. */
  private rowsByAddress(organization_id: string, { id, email, mark: word }: Somebody): [string, Row][] {
    const email_normalized = email;
    return [
    ['leads', { id: uuidv7(), organization_id, name: word, email, email_normalized }],
    ['inbox_messages', { id: uuidv7(), organization_id, guest_name: word, guest_email: email, message: word }],
    ['suppressions', { organization_id, email_normalized }],
    ['outbox', { id: uuidv7(), organization_id, topic: 'email', kind: 'welcome', recipient: email, email_normalized }],
    ['idempotency_keys', { organization_id, operation: `POST /v1/students/${id}/offboard`, key: word, request_hash: Buffer.alloc(32), expires_at: '2100-01-01' }],
    ['events', { organization_id, number: 1_000_000 + ++Canary.numbers, type: 'student.updated', resource: 'student', resource_id: id, timestamp: '2026-03-02T09:00:00Z', data: { changed: [], student_id: id } }],
    ['audit_log', { id: uuidv7(), organization_id, operation: 'join', request_id: 'r', status: 200, result: 'done', details: { user_id: id, text: word } }],
  ]; // prettier-ignore
  }

  /** Writes the mark into each column of a row that takes it. */
  private async fill(table: string, row: Row, word: string, { by, given = [] }: { by?: string; given?: string[] } = {}): Promise<void> {
    const keys = this.columns.filter((one) => one.table === table && (one.key || one.name === 'id'));
    const where = keys.map(({ name }, n) => `${name} = $${n + 2}`).join(' AND ');
    for (const column of this.columns.filter((one) => one.table === table && isFree(one) && !one.key && !given.includes(one.name))) {
      const { name, type } = column;
      const one = `${word} ${++Canary.numbers}`;
      const value = type === 'text' ? one : type === 'text[]' ? [one] : JSON.stringify(name === 'files' ? [{ one }] : { one });
      try {
        await this.make.query(`UPDATE ${table} SET ${name} = $1 WHERE ${where}`, [value, ...keys.map((key) => row[key.name])]);
        this.written.set(one, { table, name, by });
      } catch (error) {
        // A code, an address or a slug: its CHECK lets no such word in.
        if (!/violates check constraint|cannot be changed/.test(String(error))) throw error;
      }
    }
  }

  /** Whether ERASING says that what was written there stays, in a row which names the person in such a column. */
  mayStay(one: string): boolean {
    const { table = '', name = '', by = '' } = this.written.get(one) ?? {};
    const { names = {}, keeps = {}, empties = {} } = ERASING[table] ?? {};
    if (names[by] === 'goes') return false;
    return name in empties ? !empties[name]!.of.includes(by) : Object.values(keeps).flat().includes(name);
  }
}
