import { connect } from 'node:net';
import { CalendarFixture, type ShownParticipant } from '../../support/data/calendar-fixture.js';
import { connectPatiently } from '../../support/database/patient-connection.js';
import { TestApi } from '../../support/http/api.js';
import { ApiProcess } from '../../support/http/api-process.js';
import { bytesOf } from '../../support/http/raw-http.js';
import { fixture } from '../../support/process/fixture.js';

const ROUNDS = 10;

const api = await fixture(TestApi.start());
const slow = await fixture(ApiProcess.start({ DATABASE_URL: api.database.applicationUrl, LOG_LEVEL: 'error' }));
const rows = await connectPatiently({ url: api.database.adminUrl, poolSize: 1, applicationName: 'lock' });
afterAll(() => rows.destroy());

const oneWaits = () =>
  vi.waitFor(
    async () => {
      const found = await api.make.query(`SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`);
      expect(found).toHaveLength(1);
    },
    { interval: 5, timeout: 10_000 },
  );

it('a PATCH whose client has gone, in a process that stood still, never overtakes its repeat in another one', async () => {
  for (let round = 0; round < ROUNDS; round++) {
    // Those who leave use up their organization's turns for ten seconds.
    const at = await CalendarFixture.open(api);
    const { id } = (await at.book('2027-02-01T03:00:00Z', { student_ids: at.students })).body;
    const [place] = await at.participants(id);
    const path = `/v1/lesson-participants/${place!.id}`;
    const patch = (attendance: string) => at.send<ShownParticipant>('patch', path, { attendance });

    await rows.query(`BEGIN; SELECT FROM sessions WHERE id = '${id}' FOR UPDATE`);
    const body = JSON.stringify({ attendance: 'excused' });
    const headers = { Authorization: `Token token=${at.key}`, 'Content-Type': 'application/json', 'Content-Length': String(body.length) };
    const client = connect(slow.port, '127.0.0.1');
    client.write(bytesOf(path, { method: 'PATCH', headers: Object.entries(headers) }));
    client.write(body);
    await oneWaits();
    slow.signal('SIGSTOP');
    client.destroy();
    await rows.query('COMMIT');
    const repeat = patch('excused');
    await oneWaits();
    slow.signal('SIGCONT');
    expect((await repeat).body.attendance).toBe('excused');
    expect((await patch('attended')).body.attendance).toBe('attended');
    // The first one has ended by now, as it holds or waits for nothing.
    await rows.query(`BEGIN; SELECT FROM sessions WHERE id = '${id}' FOR UPDATE; COMMIT`);
    expect((await at.participants(id)).find((one) => one.id === place!.id)).toMatchObject({ attendance: 'attended' });
    const audited = await api.make.query(`SELECT FROM audit_log WHERE details ->> 'participant_id' = $1`, [place!.id]);
    expect(audited).toHaveLength(2);
  }
});
