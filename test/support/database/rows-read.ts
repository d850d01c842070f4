import pg from 'pg';
import type { Statement } from './read-statements.js';

interface PlanNode {
  'Node Type': string;
  'Actual Rows': number;
  'Actual Loops': number;
  'Relation Name'?: string;
  'Index Name'?: string;
  Plans?: PlanNode[];
  [removed: `Rows Removed by ${string}`]: number;
}

const REMOVED = ['Filter', 'Join Filter', 'Index Recheck'] as const;

/** Rows that the plan has read from tables and indexes, and pairs of rows that its joins have looked at in vain. */
function readIn(node: PlanNode): number {
  const { 'Actual Rows': rows, 'Actual Loops': loops, Plans = [] } = node;
  const removed = REMOVED.reduce((sum, by) => sum + (node[`Rows Removed by ${by}`] ?? 0), 0);
  const shown = node['Relation Name'] && / Scan$/.test(node['Node Type']) ? rows : 0;
  return (shown + removed) * loops + Plans.reduce((sum, child) => sum + readIn(child), 0);
}

const indexesIn = ({ 'Index Name': index, Plans = [] }: PlanNode): string[] => [...(index ? [index] : []), ...Plans.flatMap(indexesIn)];

/** Plans statements as they are planned once they have run a few times: for the average organization, whatever its values are. */
export class GenericPlans {
  /** Of all plans so far. */
  readonly indexes = new Set<string>();
  private readonly names = new Map<string, string>();

  private constructor(private readonly client: pg.Client) {}

  /** @param role the URL of the role whose plans these are */
  static async connect(role: string): Promise<GenericPlans> {
    const client = new pg.Client({ connectionString: role });
    await client.connect();
    await client.query('SET plan_cache_mode = force_generic_plan');
    // Of the smallest tables, all rows are on one page.
    await client.query('SET enable_seqscan = off');
    return new GenericPlans(client);
  }

  /** How many rows the statement reads; none if it writes. */
  async rowsRead(organizationId: string, statement: Statement): Promise<number> {
    const [row] = await this.explain<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>('JSON', organizationId, statement);
    if (!row) return 0;
    const { Plan: plan } = row['QUERY PLAN'][0];
    for (const index of indexesIn(plan)) this.indexes.add(index);
    return readIn(plan);
  }

  /** Its plan, for people. */
  async planOf(organizationId: string, statement: Statement): Promise<string> {
    const lines = await this.explain<{ 'QUERY PLAN': string }>('TEXT', organizationId, statement);
    return lines.map((line) => line['QUERY PLAN']).join('\n');
  }

  private async explain<Row>(format: 'JSON' | 'TEXT', organizationId: string, { text, values }: Statement): Promise<Row[]> {
    const literals = values.map((value) => (value === null ? 'NULL' : this.client.escapeLiteral(value as string)));
    const execute = `${await this.prepared(text)}${literals.length > 0 ? `(${literals.join(', ')})` : ''}`;
    await this.client.query('BEGIN READ ONLY');
    try {
      await this.client.query(`SELECT set_config('app.organization_id', $1, true)`, [organizationId]);
      return (await this.client.query(`EXPLAIN (ANALYZE, TIMING OFF, SUMMARY OFF, FORMAT ${format}) EXECUTE ${execute}`)).rows as Row[];
    } catch (error) {
      if ((error as { code?: string }).code === '25006') return [];
      throw error;
    } finally {
      await this.client.query('ROLLBACK');
    }
  }

  private async prepared(text: string): Promise<string> {
    const known = this.names.get(text);
    if (known) return known;
    const name = `g${this.names.size}`;
    await this.client.query(`PREPARE ${name} AS ${text}`);
    this.names.set(text, name);
    return name;
  }

  async close(): Promise<void> {
    await this.client.end();
  }
}
