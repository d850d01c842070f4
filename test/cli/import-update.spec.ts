import { randomUUID as id } from 'node:crypto';
import { lockNumber, tableLock } from '@app/database';
import { ImportFixture, ImportedOrganization } from '../support/data/import-fixture.js';
import type { Row } from '../support/database/schema-fixture.js';
import { fixture } from '../support/process/fixture.js';

const imports = await fixture(ImportFixture.open());
const UPDATE = { update: true };

describe('an import with --update', () => {
  beforeEach(() => imports.renew());

  const change = (files: Record<string, Row[]>, how = {}) => imports.load(files, imports.organization, { ...UPDATE, ...how });
  const refused = (files: Record<string, Row[]>) => imports.faultsOf(files, imports.organization, UPDATE);

  /** A school with prices. */
  async function school() {
    const subject = { id: id(), name: 'Physics', code: 'physics' };
    const band = { id: id(), name: 'Seniors', sort_order: 2 };
    const tier = { id: id(), name: 'Gold', description: 'Best' };
    const cell = { id: id(), subject_id: subject.id, student_rate_cents: 8000, tutor_flat_rate_cents: 4000, tutor_pay_mode: 'flat' };
    const room = { id: id(), owner_type: 'org', label: 'Library', is_default: true };
    const files = imports.school.with({ subjects: [subject], rate_bands: [band], tutor_tiers: [tier], rate_cells: [cell], locations: [room] });
    await imports.load(files);
    return { files, subject, band, tier, cell, room };
  } // prettier-ignore

  it('changes what the lines give, keeps the rest, and counts it by field', async () => {
    const { subject, band, tier, cell, room } = await school();
    const files = {
      subjects: [{ id: subject.id, name: 'Chemistry' }],
      rate_bands: [{ id: band.id, name: ' Juniors ' }],
      tutor_tiers: [{ id: tier.id, description: null }],
      rate_cells: [{ id: cell.id, student_rate_cents: 9000 }, { id: id(), student_rate_cents: 1 }],
      locations: [{ id: room.id, suburb: 'Brunswick', label: 'Library' }],
    };
    const told = await change(files, { dryRun: true });
    expect(told).toEqual({
      subjects: { read: 1, inserted: 0, changed: 1, unchanged: 0, fields: { name: 1 } },
      rate_bands: { read: 1, inserted: 0, changed: 1, unchanged: 0, fields: { name: 1 } },
      tutor_tiers: { read: 1, inserted: 0, changed: 1, unchanged: 0, fields: { description: 1 } },
      rate_cells: { read: 2, inserted: 1, changed: 1, unchanged: 0, fields: { student_rate_cents: 1 } },
      locations: { read: 1, inserted: 0, changed: 1, unchanged: 0, fields: { suburb: 1 } },
    });
    expect(await imports.rows('SELECT name FROM subjects')).toEqual([{ name: 'Physics' }]);
    expect(await change(files)).toEqual(told);
    expect(await imports.rows('SELECT name, code FROM subjects')).toEqual([{ name: 'Chemistry', code: 'physics' }]);
    expect(await imports.rows('SELECT name, sort_order FROM rate_bands')).toEqual([{ name: 'Juniors', sort_order: 2 }]);
    expect(await imports.rows('SELECT name, description FROM tutor_tiers')).toEqual([{ name: 'Gold', description: null }]);
    expect(await imports.rows(`SELECT student_rate_cents::integer AS rate, tutor_flat_rate_cents::integer AS pay FROM rate_cells WHERE id = '${cell.id}'`)).toEqual([{ rate: 9000, pay: 4000 }]);
    expect(await imports.rows('SELECT label, suburb, is_default FROM locations')).toEqual([{ label: 'Library', suburb: 'Brunswick', is_default: true }]);
    const audited = await imports.rows(`SELECT details FROM audit_log WHERE operation = 'change rows' ORDER BY details ->> 'file'`);
    expect(audited.map(({ details }) => details)).toEqual(Object.keys(files).sort().map((table) => ({ file: `${table}.ndjson`, rows: 1, fields: Object.keys(told[table]!.fields!) })));
    // Again, nothing changes.
    expect((await change(files)).subjects).toEqual({ read: 1, inserted: 0, changed: 0, unchanged: 1, fields: {} });
  }); // prettier-ignore

  it('corrects wishes that wait, what staff noted, and what was said of a parent who has not accepted', async () => {
    const [request, matched, lead, parent] = [id(), id(), id(), id()];
    const known = { first_name: 'Ada', last_name: 'King' };
    await imports.load({
      users: [{ id: parent, ...known, email: `${parent}@example.org` }],
      parents: [{ user_id: parent, status: 'pending', supplied_first_name: 'Ada' }],
      leads: [{ id: lead, name: 'Priya', email: 'priya@example.org' }],
      booking_requests: [{ id: request, message: 'Soon', student_display_name: 'Mia' }, { id: matched, status: 'declined', student_display_name: 'Mia' }],
    });
    await change({
      parents: [{ user_id: parent, supplied_phone: '0400 000 000' }],
      leads: [{ id: lead, staff_notes: 'Called' }],
      booking_requests: [{ id: request, message: 'Sooner', preferred_times: { monday: ['16:00-18:00'] }, duration_minutes: 90 }],
    });
    expect(await imports.rows('SELECT supplied_first_name, supplied_phone FROM parents')).toEqual([{ supplied_first_name: 'Ada', supplied_phone: '0400 000 000' }]);
    expect(await imports.rows('SELECT staff_notes FROM leads')).toEqual([{ staff_notes: 'Called' }]);
    expect(await imports.rows(`SELECT message, duration_minutes FROM booking_requests WHERE id = '${request}'`)).toEqual([{ message: 'Sooner', duration_minutes: 90 }]);
    expect(await refused({ booking_requests: [{ id: matched, message: 'Late' }] })).toEqual(['booking_requests.ndjson:1: message: cannot be changed: it is declined']);
    expect(await refused({ booking_requests: [{ id: request, status: 'declined' }] })).toEqual(['booking_requests.ndjson:1: status: cannot be changed by an import']);
  }); // prettier-ignore

  it('waits for whoever replaces the table of rates, and sees what they left', async () => {
    const { cell } = await school();
    const other = await imports.database.owner.connect();
    await other.query('BEGIN');
    await other.query('SELECT pg_advisory_xact_lock($1)', [lockNumber(tableLock('rate_cells', imports.organization))]);
    const importing = change({ rate_cells: [{ id: cell.id, student_rate_cents: 9000 }] });
    const waits = `SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted`;
    await vi.waitFor(async () => expect((await other.query(waits)).rowCount).toBe(1), { timeout: 20_000, interval: 50 });
    await other.query(`SELECT set_config('app.maintenance', 'on', true)`);
    await other.query('UPDATE rate_cells SET student_rate_cents = 9000 WHERE id = $1', [cell.id]);
    await other.query('COMMIT');
    other.release();
    expect((await importing).rate_cells).toMatchObject({ read: 1, changed: 0, unchanged: 1 });
  });

  it('keeps the rules of the API', async () => {
    const { subject, cell, files } = await school();
    const other = { id: id(), name: 'Maths' };
    await imports.load({ subjects: [other] });
    expect(await refused({ subjects: [{ id: subject.id, name: 'Maths' }], rate_cells: [{ id: cell.id, student_rate_cents: -1 }] })).toEqual([
      'rate_cells.ndjson:1: student_rate_cents: must be at least 0',
    ]);
    expect(await refused({ subjects: [{ id: subject.id, name: 'Maths' }] })).toEqual([
      'subjects.ndjson:1: name: is taken by another subject of this organization',
    ]);
    const hours = { tutor_id: imports.school.tutor.id, day_of_week: 1, timezone: 'Australia/Melbourne' };
    const [one, two] = [{ id: id(), ...hours, start_time: '09:00', end_time: '10:00' }, { id: id(), ...hours, start_time: '11:00', end_time: '12:00' }];
    await imports.load({ availabilities: [one, two] });
    expect(await refused({ availabilities: [{ id: one.id, end_time: '08:00' }] })).toEqual(['availabilities.ndjson:1: end_time: must be after start_time']);
    expect(await refused({ availabilities: [{ id: two.id, start_time: '09:30' }] })).toEqual(['availabilities.ndjson:1: start_time: must not overlap other hours of the same day']);
    expect(await change({ availabilities: [{ id: one.id, start_time: '12:00', end_time: '13:00' }, { id: two.id, start_time: '10:00' }] })).toMatchObject({ availabilities: { changed: 2 } });
    const lead = { id: id(), name: 'x', phone: '1' };
    await imports.load({ leads: [lead] });
    expect(await refused({ leads: [{ id: lead.id, assigned_tutor_id: imports.school.student.id }] })).toEqual(['leads.ndjson:1: assigned_tutor_id: is not staff of this organization']);
    expect(await change(files)).toMatchObject({ users: { changed: 0, unchanged: 2 } });
  }); // prettier-ignore

  it('never changes roles, states, addresses, money or what is over', async () => {
    const { files } = await school();
    const { student, tutor } = imports.school;
    const invoice = { id: id(), student_id: student.id, status: 'open', invoice_number: 'INV-000007', amount_due_cents: 500, currency: 'AUD' };
    const payment = { id: id(), student_id: student.id, amount_cents: 9, currency: 'AUD', payment_type: 'cash', status: 'succeeded' };
    const times = { starts_at: '2026-05-01T01:00:00Z', ends_at: '2026-05-01T02:00:00Z', duration_minutes: 60 };
    const done = { id: id(), tutor_id: tutor.id, status: 'completed', ...times };
    const set = { id: id(), assigned_by: tutor.id, title: 'Surds', homework_type: 'text', scope: 'student', student_id: student.id };
    const attempt = { id: id(), student_id: student.id, status: 'not_started', mode: 'homework', homework_assignment_id: set.id };
    await imports.load({ invoices: [invoice], payments: [payment], sessions: [done], homework: [set], results: [attempt] });
    const member = files.members![1]!;
    const lines: [string, Row, string][] = [
      ['users', { id: student.id, email: 'else@example.com' }, 'email: cannot be changed by an import'],
      ['members', { id: member.id, role: 'tutor' }, 'role: cannot be changed by an import'],
      ['members', { id: member.id, status: 'archived' }, 'status: cannot be changed by an import'],
      ['members', { id: member.id, accepted_at: '2020-01-01' }, 'accepted_at: cannot be changed by an import'],
      ['invoices', { id: invoice.id, amount_due_cents: 1 }, 'amount_due_cents: cannot be changed by an import'],
      ['payments', { id: payment.id, amount_cents: 1 }, 'amount_cents: cannot be changed by an import'],
      ['sessions', { id: done.id, title: 'x' }, 'title: cannot be changed: it is completed'],
      ['sessions', { id: files.sessions![0]!.id, status: 'completed' }, 'status: cannot be changed by an import'],
      ['homework', { id: set.id, student_id: null }, 'student_id: cannot be changed: there are results for it'],
    ];
    for (const [table, row, fault] of lines) expect(await refused({ [table]: [row] }), table).toEqual([`${table}.ndjson:1: ${fault}`]);
    expect(await change({ sessions: [{ id: files.sessions![0]!.id, title: 'Algebra' }], users: [{ id: student.id, last_name: 'Ngata' }] })).toMatchObject({ sessions: { changed: 1 } });
    expect(await imports.database.all('SELECT last_name FROM users WHERE id = $1', [student.id])).toEqual([{ last_name: 'Ngata' }]);
  }); // prettier-ignore

  it('refuses rows of other organizations as unknown', async () => {
    const { cell } = await school();
    const other = await imports.database.organization();
    const theirs = { id: id(), name: 'Physics' };
    await imports.load({ subjects: [theirs] }, other);
    expect(await refused({ subjects: [{ id: theirs.id, code: 'x' }] })).toEqual([
      'subjects.ndjson:1: name: is missing, and there is no such subject to change',
    ]);
    expect(await refused({ subjects: [{ ...theirs, name: 'Mine' }] })).toEqual(['subjects.ndjson:1: id: is taken']);
    expect(await imports.faultsOf({ rate_cells: [{ id: cell.id, student_rate_cents: 1 }] }, other, UPDATE)).toEqual(['rate_cells.ndjson:1: id: is taken']);
    expect(await imports.database.all('SELECT name FROM subjects WHERE id = $1', [theirs.id])).toEqual([{ name: 'Physics' }]);
  }); // prettier-ignore

  it('leaves people whom another organization knows as they are', async () => {
    const { files } = await school();
    const { tutor } = imports.school;
    const second = await imports.database.organization();
    await imports.load({ users: [tutor], members: [new ImportedOrganization().memberRow(tutor, 'tutor')] }, second);
    await imports.database.all(`UPDATE members SET status = 'accepted', accepted_at = now() WHERE organization_id = $1`, [second]);
    expect(await refused({ users: [{ id: tutor.id, last_name: 'Other' }] })).toEqual([
      'users.ndjson:1: last_name: cannot be changed: another organization knows this person, too',
    ]);
    expect(files.users).toHaveLength(2);
  });

  it('without it, a line that differs is told', async () => {
    const { subject } = await school();
    expect(await imports.load({ subjects: [{ ...subject, name: 'Chemistry' }] })).toEqual({
      subjects: { read: 1, inserted: 0, unchanged: 1, differing: 1 },
    });
  });
});
