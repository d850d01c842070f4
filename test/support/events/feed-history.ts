import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import supertest from 'supertest';
import type { Random } from '../data/random.js';
import type { TestApi } from '../http/api.js';

/** What happens in a history. */
export interface Plan {
  /** Transactions of all writers together. */
  transactions: number;
  /** Something that breaks connections, now and then. */
  blow?: () => Promise<unknown>;
}

interface Event {
  id: string;
  type: string;
  resource_id: string;
  data: { subject_id: string };
}

/** Independent of the feed: a trigger for each row, which writes in the transaction of the change, as it is rolled back with it. */
const KEPT = `
  CREATE TABLE kept (place bigserial PRIMARY KEY, transaction xid8 DEFAULT pg_current_xact_id(), organization_id uuid, id uuid, op text, subject_id uuid);
  CREATE FUNCTION keep() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public AS $$
  DECLARE r record;
  BEGIN
    r := CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END;
    INSERT INTO kept (organization_id, id, op, subject_id) VALUES (r.organization_id, r.id, TG_OP, r.subject_id);
    RETURN NULL;
  END $$;
  CREATE TRIGGER keep AFTER INSERT OR UPDATE OR DELETE ON classrooms FOR EACH ROW EXECUTE FUNCTION keep()`;

const EXPECTED = `
  SELECT id, CASE WHEN ops[1] = 'INSERT' THEN 'created' WHEN last = 'DELETE' THEN 'deleted' ELSE 'updated' END || ' ' || subject_id AS told FROM (
    SELECT id, min(place) AS place, array_agg(op ORDER BY place) AS ops, (array_agg(op ORDER BY place DESC))[1] AS last,
      (array_agg(subject_id ORDER BY place DESC))[1] AS subject_id FROM kept WHERE organization_id = $1 GROUP BY id, transaction) t
  WHERE NOT (ops[1] = 'INSERT' AND last = 'DELETE') ORDER BY place`;

const RECORDS = 6;
const SQL_WRITERS = 5;
const API_WRITERS = 3;

/** Writers race over a few classrooms, whose subject says which version an event tells of, while readers follow the feed. */
export class FeedHistory {
  private records: string[] = [];
  private left: number;
  private running = true;

  private constructor(
    private readonly api: TestApi,
    private readonly random: Random,
    private readonly plan: Plan,
    private readonly school: string,
    private readonly key: string,
    private readonly subjects: string[],
  ) {
    this.left = plan.transactions;
  }

  static async prepare(api: TestApi): Promise<void> {
    await api.make.query(KEPT);
  }

  /** @returns what the readers missed, saw twice or in another order, by record; and how much was told */
  static async run(api: TestApi, random: Random, plan: Plan): Promise<{ wrong: string[]; told: number }> {
    const { id } = await api.make.organization();
    const subjects: string[] = [];
    for (let count = 0; count < 40; count++) subjects.push((await api.make.subject(id)).id);
    const key = await api.key(id, { scopes: ['read', 'write'] });
    return new FeedHistory(api, random, plan, id, key, subjects).all();
  }

  private async all(): Promise<{ wrong: string[]; told: number }> {
    const readers = [
      this.read('oldest', '', () => true),
      this.read('oldest', '&wait=1', () => true),
      this.read('oldest', '&types=classroom.updated,classroom.deleted', (told) => !told.startsWith('created')),
    ];
    const around = [this.number(), this.number(), this.strike()];
    const writers = [...Array.from({ length: SQL_WRITERS }, () => this.write()), ...Array.from({ length: API_WRITERS }, () => this.request())];
    await Promise.all(writers);
    this.running = false;
    await Promise.all(around);
    while ((await this.api.make.query('SELECT FROM event_changes LIMIT 1')).length > 0) await this.api.make.query('SELECT number_events()');
    const rows = await this.api.make.query<{ id: string; told: string }>(EXPECTED, [this.school]);
    const found = await Promise.all(readers);
    const wrong = found.flatMap(({ events, wanted }, reader) => {
      const [seen, expected] = [lines(events), lines(rows.filter(({ told }) => wanted(told)))];
      return [...new Set([...seen.keys(), ...expected.keys()])]
        .filter((id) => String(seen.get(id)) !== String(expected.get(id)))
        .map((id) => `reader ${reader}, ${id}: ${String(seen.get(id))} instead of ${String(expected.get(id))}`);
    });
    return { wrong, told: rows.length };
  }

  /** Transactions of some changes: long ones, ones that are rolled back, in parts or as a whole, and ones that the server ends. */
  private async write(): Promise<void> {
    while (this.left-- > 0) {
      const client = new pg.Client({ connectionString: this.api.database.adminUrl, application_name: 'writer' });
      client.on('error', () => undefined);
      try {
        await client.connect();
        await client.query('BEGIN');
        const long = this.random.chance(0.2);
        for (let change = this.random.integer(4); change >= 0; change--) {
          const undone = this.random.chance(0.1);
          if (undone) await client.query('SAVEPOINT undone');
          await this.change(client);
          if (undone) await client.query('ROLLBACK TO undone');
          if (long) await sleep(this.random.integer(150));
        }
        await client.query(this.random.chance(0.2) ? 'ROLLBACK' : 'COMMIT');
      } catch {
        // A deadlock, or a blow: what was committed is kept, and told.
      } finally {
        await client.end().catch(() => undefined);
      }
    }
  }

  private async change(client: pg.Client): Promise<void> {
    const subject = this.random.pick(this.subjects);
    const id = this.random.pick(this.records);
    if (this.records.length < RECORDS || this.random.chance(0.15)) {
      const { rows } = await client.query<{ id: string }>(
        `INSERT INTO classrooms (id, organization_id, name, subject_id) VALUES (gen_random_uuid(), $1, 'Race', $2) RETURNING id`,
        [this.school, subject],
      );
      this.records.push(rows[0]!.id);
    } else if (this.random.chance(0.1)) {
      await client.query('DELETE FROM classrooms WHERE organization_id = $1 AND id = $2', [this.school, id]);
      this.records = this.records.filter((one) => one !== id);
    } else {
      await client.query('UPDATE classrooms SET subject_id = $3 WHERE organization_id = $1 AND id = $2 AND subject_id <> $3', [
        this.school,
        id,
        subject,
      ]);
    }
  }

  private async request(): Promise<void> {
    while (this.left-- > 0) {
      const path = `/v1/classrooms/${this.random.pick([this.school, ...this.records])}`;
      const request = supertest(this.api.server).patch(path).set('Authorization', `Token token=${this.key}`);
      await request.send({ subject_id: this.random.pick(this.subjects) });
    }
  }

  /** As the worker does, and each process in which readers wait. */
  private async number(): Promise<void> {
    while (this.running) {
      const client = new pg.Client({ connectionString: this.api.database.adminUrl, application_name: 'numberer' });
      client.on('error', () => undefined);
      try {
        await client.connect();
        for (let times = 0; times < 20; times++) {
          await client.query('SELECT number_events()');
          await sleep(this.random.integer(20));
        }
      } catch {
        await sleep(20);
      } finally {
        await client.end().catch(() => undefined);
      }
    }
  }

  private async strike(): Promise<void> {
    while (this.running) {
      await sleep(50 + this.random.integer(250));
      await this.plan.blow?.();
    }
  }

  private async read(cursor: string, more: string, wanted: (told: string) => boolean) {
    const events: { id: string; told: string }[] = [];
    for (;;) {
      const done = !this.running && (await this.api.make.query('SELECT FROM event_changes LIMIT 1').catch(() => [0])).length === 0;
      const answer = await this.api.get(`/v1/events?cursor=${cursor}&limit=${1 + this.random.integer(20)}${more}`, this.key);
      if (answer.status !== 200) {
        // Its connection to the database broke.
        if (answer.status < 500) throw new Error(`A reader got ${answer.status}: ${JSON.stringify(answer.body)}`);
        await sleep(20);
        continue;
      }
      const { data, meta } = answer.body as { data: Event[]; meta: { next_cursor: string; has_more: boolean } };
      for (const event of data.filter(({ type }) => type.startsWith('classroom.')))
        events.push({ id: event.resource_id, told: `${event.type.split('.')[1]} ${event.data.subject_id}` });
      cursor = meta.next_cursor;
      if (done && !meta.has_more) return { events, wanted };
    }
  }
}

/** What was told of each record, in order. */
const lines = (told: { id: string; told: string }[]) =>
  new Map([...Map.groupBy(told, ({ id }) => id)].map(([id, all]) => [id, all.map((one) => one.told).join(', ')]));
