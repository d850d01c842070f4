import { randomUUID } from 'node:crypto';
import { lockNumber } from '../../../libs/database/src/locks.js';
import { lessonOffice } from '../../support/portal/lesson-office.js';
import { cookieOf, TestPortal } from '../../support/portal/portal.js';
import { fixture } from '../../support/process/fixture.js';

const HOUR = 3_600_000;
const portal = await fixture(TestPortal.start());

/** A lesson, so many hours from now, and what those it concerns see of it. */
async function lessonIn(hours: number) {
  const office = await lessonOffice(portal);
  const startsAt = new Date(Math.ceil(Date.now() / 60_000) * 60_000 + hours * HOUR);
  const id = await office.lesson(0, '10:00', { startsAt, endsAt: new Date(startsAt.getTime() + HOUR), meetingUrl: 'https://meet.example.org/a' });
  await portal.make.query(`UPDATE members SET status = 'accepted' WHERE organization_id = $1`, [office.at]);
  await portal.make.query(`UPDATE parents SET status = 'accepted' WHERE organization_id = $1`, [office.at]);
  const mine = `/my/${office.organization.slug}`;
  const path = `${mine}/lessons/${id}`;
  const as = async (userId: string) => {
    const cookie = await portal.session(userId);
    const get = (at: string) => portal.get(at, cookie);
    const send = (action: string, fields: Record<string, string> = {}) =>
      portal.post(`${path}/${action}`, { form_token: randomUUID(), ...fields }, cookie);
    /** What the next page says of a form. */
    const told = async (action: string, fields: Record<string, string>) => {
      const answer = await send(action, fields).expect(303);
      return (await portal.get(answer.headers.location!, `${cookie}; ${cookieOf(answer, 'flash')}`)).text;
    };
    return { get, send, told };
  };
  return { ...office, id, mine, path, tutorPages: await as(office.tutor.id), parentPages: await as(office.parent.id), as };
}

describe('a tutor', () => {
  it('finds a lesson to mark as done, and completes it: the family is billed, and the tutor paid', async () => {
    const { tutorPages, mine, path, id, child, stored } = await lessonIn(-2);
    const week = (await tutorPages.get(mine)).text;
    expect(week).toContain('To mark as done');
    expect(week).toContain(path);
    expect((await tutorPages.get(path)).text).toContain('Who came?');
    expect((await tutorPages.send('complete', { [`attendance-${child.id}`]: 'nonsense' })).status).toBe(422);
    await tutorPages.send('complete', { [`attendance-${child.id}`]: 'attended' }).expect(303);
    expect(await stored(id)).toMatchObject({ status: 'completed' });
    const { text } = await tutorPages.get(path);
    expect(text).toContain('Completed');
    expect(text).not.toMatch(/\$|80\.00/);
  });

  it.each([
    ['that has not begun', 2, 'has not begun'],
    ['eight days after its start', -8 * 24, 'more than seven days ago'],
  ])('cannot complete a lesson %s', async (_when, hours, why) => {
    const { tutorPages, path, id, child, stored } = await lessonIn(hours);
    expect((await tutorPages.get(path)).text).not.toContain('Who came?');
    expect(await tutorPages.told('complete', { [`attendance-${child.id}`]: 'attended' })).toContain(why);
    expect(await stored(id)).toMatchObject({ status: 'scheduled' });
  });

  it('completes no lesson of a colleague, and none after leaving', async () => {
    const { as, at, child, tutor, tutorPages, path } = await lessonIn(-2);
    const colleague = await as((await portal.make.tutor(at, { status: 'accepted' })).id);
    const fields = { [`attendance-${child.id}`]: 'attended' };
    expect([(await colleague.get(path)).status, (await colleague.send('complete', fields)).status]).toEqual([404, 404]);
    await portal.make.query(`UPDATE members SET status = 'archived' WHERE user_id = $1 AND organization_id = $2`, [tutor.id, at]);
    expect((await tutorPages.send('complete', fields)).status).toBe(404);
  });
});

describe('a family', () => {
  it('sees a lesson with the tutor’s first name, its link and no price, and says that they cannot come', async () => {
    const { parentPages, mine, path, at, parent, id, look, organization } = await lessonIn(30);
    for (const { text } of [await parentPages.get(mine), await parentPages.get(path)]) {
      expect(text).toContain('Sam O.');
      expect(text).not.toMatch(/Okafor|80\.00/);
    }
    expect((await parentPages.get(path)).text).toContain('https://meet.example.org/a');
    await portal.make.query(`UPDATE organizations SET cancellation_policy = 'Free until the day before' WHERE id = $1`, [at]);
    expect((await parentPages.get(path)).text).toContain('Free until the day before');
    expect((await parentPages.send('ask', { message: '' })).status).toBe(422);
    await parentPages.send('ask', { message: 'Ada is at camp' }).expect(303);
    const [written] = await portal.make.query('SELECT from_user_id, session_id, message, status FROM inbox_messages WHERE organization_id = $1', [
      at,
    ]);
    expect(written).toEqual({ from_user_id: parent.id, session_id: id, message: 'Ada is at camp', status: 'unread' });
    expect((await portal.make.find('sessions', id)).status).toBe('scheduled');
    expect(await look(`/o/${organization.slug}/inbox`)).toContain(`/o/${organization.slug}/lessons/${id}`);
  });

  it('who writes while somebody leaves waits for the lesson first, and so in no circle with them', async () => {
    const { parentPages, id, at, parent } = await lessonIn(30);
    const leaving = portal.make.db.createQueryRunner();
    await leaving.startTransaction();
    try {
      await leaving.query('SELECT FROM sessions WHERE id = $1 FOR UPDATE', [id]);
      const asked = parentPages.send('ask', { message: 'Ada is at camp' }).then(({ status }) => status);
      const waiting = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
      await vi.waitFor(async () => expect(await portal.make.query(waiting)).toHaveLength(1));
      await leaving.query(`SET LOCAL lock_timeout = '500ms'`);
      await leaving.query('SELECT pg_advisory_xact_lock($1)', [lockNumber(`person ${parent.id} in ${at}`)]);
      await leaving.commitTransaction();
      expect(await asked).toBe(303);
    } finally {
      if (leaving.isTransactionActive) await leaving.rollbackTransaction();
      await leaving.release();
    }
  });

  it('sees no other lesson, and writes about none', async () => {
    const { as, at, child, path, parentPages } = await lessonIn(30);
    const other = await portal.make.parent(at, { status: 'accepted', children: [(await portal.make.student(at)).id] });
    const others = await as(other.id);
    expect([(await others.get(path)).status, (await others.send('ask', { message: 'x' })).status]).toEqual([404, 404]);
    const student = await as(child.id);
    expect((await student.get(path)).status).toBe(200);
    await portal.make.query('DELETE FROM parent_students WHERE student_id = $1', [child.id]);
    expect([(await parentPages.get(path)).status, (await parentPages.send('ask', { message: 'x' })).status]).toEqual([404, 404]);
  });
});
