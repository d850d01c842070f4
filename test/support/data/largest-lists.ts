import type { TestApi } from '../http/api.js';
import type { Factories } from './factories.js';
import { createListFixture, pathAt, rowsAt, rowsFor, type ListFixture } from './list-rows.js';
import { lengthenTexts } from './longest-rows.js';
import { Random } from './random.js';
import { type ApiDocument, documentOf, keyedReads, listAt, operationAt, queryOf, type Route } from '../http/routes.js';

const START = new Date('2026-05-01T00:00:00Z');

/** Every list with the largest rows that the schema allows, each in its own organization. */
export class LargestLists {
  private readonly random = new Random(3);
  private readonly stages = new Map<string, { stage: ListFixture; key: string }>();

  private constructor(
    private readonly api: TestApi,
    private readonly document: ApiDocument,
    /** Columns with long values. */
    readonly columns: string[],
  ) {}

  /**
   * @param rows rows in each list
   * @param people people on each of twenty rows, in lists that return arrays of people
   * @param text maximum length of texts, and the character to repeat
   */
  static async create(
    api: TestApi,
    make: Factories,
    { rows, people, text }: { rows: number; people: number; text?: { length: number; character: string } },
  ): Promise<LargestLists> {
    const lists = new LargestLists(api, await documentOf(api), []);
    for (const route of lists.routes()) await lists.fill(make, route, rows);
    await lists.crowd(make, people);
    lists.columns.push(...(await lengthenTexts(make, text)));
    return lists;
  }

  routes(): Route[] {
    return keyedReads(this.api).filter((route) => queryOf(this.document, route).has('offset'));
  }

  idOf(route: Route): string {
    return operationAt(this.document, route).operationId;
  }

  /** Queries for the largest page: by offset, and by cursor if the list has cursors. */
  pagesOf(route: Route): string[] {
    const parameters = queryOf(this.document, route);
    const limit = `limit=${parameters.get('limit')!.maximum}`;
    return parameters.has('cursor') ? [limit, `${limit}&cursor=${String(parameters.get('cursor')!.examples![0])}`] : [limit];
  }

  /** The path and key for requesting a page. */
  target(route: Route, query: string): { path: string; key: string } {
    const { stage, key } = this.stages.get(this.idOf(route))!;
    return { path: `${pathAt(route, stage)}?${query}`, key };
  }

  private async fill(make: Factories, route: Route, rows: number): Promise<void> {
    const id = this.idOf(route);
    const stage = await createListFixture(make, START);
    this.stages.set(id, { stage, key: await this.api.key(stage.school) });
    const times = Array<string>(rows).fill(START.toISOString());
    if (id === 'list_blog_posts') {
      for (let n = 0; n < rows; n++) await make.post(stage.school, { content: 'x' });
    } else {
      await rowsFor(listAt(route)!).insert(make, stage, rowsAt(times, this.random));
    }
  }

  /** Adds many children, parents and participants, which the database aggregates into arrays. */
  private async crowd(make: Factories, people: number): Promise<void> {
    await make.query(
      `INSERT INTO users (id, email, email_normalized, first_name, last_name)
       SELECT id, id || '@example.org', id || '@example.org', 'Ada', 'Lovelace'
       FROM (SELECT gen_random_uuid() AS id FROM generate_series(1, $1)) AS made`,
      [people],
    );
    const some = `(SELECT id FROM users ORDER BY created_at DESC LIMIT ${people}) u`;
    const of = (table: string, list: string) =>
      `(SELECT * FROM ${table} WHERE organization_id = '${this.stages.get(list)!.stage.school}' LIMIT 20) t`;
    const additions = [
      `parent_students (organization_id, parent_id, student_id)
        SELECT organization_id, user_id, u.id FROM ${of('parents', 'list_parents')}, ${some} WHERE u.id <> user_id`,
      `parent_students (organization_id, parent_id, student_id)
        SELECT organization_id, u.id, user_id FROM ${of('members', 'list_students')}, ${some} WHERE u.id <> user_id`,
      `conversation_participants (id, conversation_id, user_id, role)
        SELECT gen_random_uuid(), conversation_id, u.id, 'student'
        FROM ${of('organization_conversations', 'list_conversations')}, ${some}`,
    ];
    for (const addition of additions) await make.withoutTriggers(`INSERT INTO ${addition} ON CONFLICT DO NOTHING`);
  }
}
