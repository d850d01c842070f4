import { randomUUID } from 'node:crypto';
import { figures, moneyOffice } from '../../support/portal/money-office.js';
import { TestPortal } from '../../support/portal/portal.js';

const portal = await TestPortal.shared();
const { make } = portal;
const HOUR = 3_600_000;

/** A tutor’s session of 90 minutes with two siblings, at 80 dollars an hour. */
async function room(startedHoursAgo = 30) {
  const office = await moneyOffice(portal);
  const at = office.organization.id;
  const tutor = await make.tutor(at, { user: { firstName: 'Sam', lastName: 'Okafor' } });
  const startsAt = new Date(Date.now() - startedHoursAgo * HOUR);
  const session = await make.session(at, {
    ...{ tutorId: tutor.id, status: 'scheduled', title: 'Algebra', startsAt, tutorPayRateCents: 5_000, tutorPayPct: null },
    ...{ endsAt: new Date(startsAt.getTime() + 1.5 * HOUR), durationMinutes: 90 },
  });
  const seat = (studentId: string) =>
    make.participant(at, session.id, studentId, { status: 'accepted', attendance: null, rateCents: 8_000, surchargeCents: null, billedCents: null });
  for (const { id } of [office.child, office.sibling]) await seat(id);
  const lessons = `/o/${office.organization.slug}/lessons`;
  const path = `${lessons}/${session.id}`;
  const field = ({ id }: { id: string }) => `attendance-${id}`;
  const came = { [field(office.child)]: 'attended', [field(office.sibling)]: 'excused' };
  const stored = () => make.find('sessions', session.id);
  const billed = () => make.query<{ student: string; due: number }>(
    `SELECT student_id AS student, amount_due_cents::int AS due FROM invoices WHERE organization_id = $1 AND collecting AND amount_due_cents > 0`,
    [at],
  ); // prettier-ignore
  return { ...office, tutor, session, lessons, path, field, came, stored, billed, seat };
}

describe('completing a lesson', () => {
  it('bills who came, pays the tutor, and can be taken back', async () => {
    const { path, lessons, came, told, look, stored, billed, child, sibling, organization, session, field } = await room();
    expect(await look(`${lessons}?state=due`)).toContain(`href="${path}"`);
    const form = await look(path);
    expect(form.match(/<option value="attended" selected>/g)).toHaveLength(2);
    expect(form).toContain('$120.00');
    expect(await told(`${path}/complete`, came)).toEqual(['success', 'The lesson was completed.']);
    expect(await stored()).toMatchObject({ status: 'completed', amountOwedCents: 12_000, tutorPayCents: 7_500 });
    expect(await billed()).toEqual([{ student: child.id, due: 12_000 }]);
    expect(await look(`${lessons}?state=due`)).toContain('Nothing to mark as done');
    expect(await look(`${lessons}?state=completed`)).toContain('Algebra');
    const done = await look(path);
    expect(figures(done)).toMatchObject({ Tutor: 'Sam Okafor', Billed: '$120.00' });
    expect([...done.matchAll(/small-text">(Came|Excused|Did not come)</g)].map(([, word]) => word)).toEqual(['Came', 'Excused']);
    expect(await told(`${path}/reopen`)).toEqual(['success', 'The lesson was reopened.']);
    expect(await stored()).toMatchObject({ status: 'scheduled', amountOwedCents: null, tutorPayCents: null });
    expect(await billed()).toEqual([]);
    await told(`${path}/complete`, { [field(child)]: 'no_show', [field(sibling)]: 'attended' });
    expect((await billed()).map(({ due }) => due)).toEqual([12_000, 12_000]);
    expect((await portal.audited(organization.id)).map(({ operation, details }) => [operation, details])).toEqual(
      ['PUT /v1/sessions/:session_id/complete', 'POST /v1/sessions/:session_id/reopen', 'PUT /v1/sessions/:session_id/complete'].map((operation) => [
        operation,
        { session_id: session.id },
      ]),
    );
  });

  it('counts once, however often the form is sent', async () => {
    const { path, came, post, told, billed, stored } = await room();
    const form = { ...came, form_token: randomUUID() };
    const answers = await Promise.all([1, 2, 3, 4].map(() => post(`${path}/complete`, form)));
    expect(answers.map(({ status }) => status)).toEqual([303, 303, 303, 303]);
    expect((await billed()).map(({ due }) => due)).toEqual([12_000]);
    await told(`${path}/reopen`);
    expect((await told(`${path}/complete`, form))[0]).toBe('notice');
    expect((await stored()).status).toBe('scheduled');
    // Another form that says something else comes too late.
    await told(`${path}/complete`, came);
    const [kind, text] = await told(`${path}/complete`, { ...came, [Object.keys(came)[1]!]: 'attended' });
    expect([kind, text]).toEqual(['notice', expect.stringContaining('with another attendance')]);
  });

  it('asks about everybody who takes part, and keeps what was chosen', async () => {
    const { path, came, refused, post, field, child, sibling, stored, seat, organization } = await room();
    const wrong = 'Choose whether the student came.';
    expect(await refused(`${path}/complete`)).toEqual({ [field(child)]: wrong, [field(sibling)]: wrong });
    expect(await refused(`${path}/complete`, { ...came, [field(child)]: 'late' })).toEqual({ [field(child)]: wrong });
    // Somebody joined after the page was opened.
    const late = await make.student(organization.id);
    await seat(late.id);
    const { text } = await post(`${path}/complete`, came).expect(422);
    expect(text).toContain(`${field(late)}-error`);
    expect(text.match(/<option value="excused" selected>/g)).toHaveLength(1);
    expect((await stored()).status).toBe('scheduled');
  });

  it('waits for the start, and offers nothing before', async () => {
    const { path, came, told, look, stored } = await room(-2);
    expect(await look(path)).not.toContain(`action="${path}/complete"`);
    expect(await told(`${path}/complete`, came)).toEqual(['notice', 'The lesson has not begun yet.']);
    expect((await stored()).status).toBe('scheduled');
  });

  it('is not taken back once it is on an issued invoice, which leads to it', async () => {
    const { path, came, told, post, look, stored, organization } = await room();
    await told(`${path}/complete`, came);
    const [invoice] = await make.query<{ id: string }>('SELECT id FROM invoices WHERE organization_id = $1 AND amount_due_cents > 0', [
      organization.id,
    ]);
    expect(await look(`/invoices/${invoice!.id}`)).toContain(`href="${path}"`);
    await post(`/invoices/${invoice!.id}/finalize`).expect(303);
    expect(await told(`${path}/reopen`)).toEqual(['notice', expect.stringContaining('Void that invoice first')]);
    expect((await stored()).status).toBe('completed');
    await told(`/invoices/${invoice!.id}/void`);
    expect((await told(`${path}/reopen`))[0]).toBe('success');
  });
});
