import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import pg from 'pg';
import type { Page } from '../pages.js';

/** The constant parts of the API's response for a page: the JSON after the rows, and the headers. */
export interface Said {
  meta: string;
  headers: [name: string, value: string][];
}

/** The program's options, from a JSON file. */
export interface LimitOptions {
  databaseUrl: string;
  poolSize: number;
  pages: (Page & Said)[];
}

interface KeyRow {
  organization_id: string;
  organization_name: string;
  scopes: string[];
  expired: boolean;
  revoked: boolean;
}

interface PageRow {
  data: string;
}

const AUTHORIZATION = /^token +token=(?:"([^"\s]+)"|([^"\s]+))$/i;
const LOOK_UP = { name: 'look_up', text: 'SELECT * FROM api_key_by_hash($1)' };
const SET_TENANT = {
  name: 'set_tenant',
  text: `SELECT set_config('app.organization_id', $1, true), set_config('app.platform_blog', $2, true)`,
};

const { databaseUrl, poolSize, pages } = JSON.parse(readFileSync(process.argv[2]!, 'utf8')) as LimitOptions;
const settings = { connectionString: databaseUrl, max: poolSize, pipeline: true, keepAlive: true };
const pool = new pg.Pool(settings);
const answers = new Map(pages.map((page, index) => [page.path, { ...page, prefix: `p${index}_` }]));

/** A response; its headers lack Content-Length. */
export type Answer = [status: number, body: string, headers?: Said['headers']];

/** Runs the API's key lookup and its statements in the same kind of transaction. Returns the API's bytes. */
export async function answer(path: string, authorization = ''): Promise<Answer> {
  const match = AUTHORIZATION.exec(authorization);
  if (!match) return [401, '{}'];
  const hash = createHash('sha256')
    .update((match[1] ?? match[2])!)
    .digest();
  const [key] = (await pool.query<KeyRow>({ ...LOOK_UP, values: [hash] })).rows;
  if (!key || key.revoked || key.expired) return [401, '{}'];
  if (!key.scopes.includes('read')) return [403, '{}'];
  const page = answers.get(path);
  if (!page) return [404, '{}'];
  if (page.statements.length === 0) {
    return [
      200,
      JSON.stringify({ status: 'ok', org_id: key.organization_id, org_name: key.organization_name }),
      page.headers,
    ];
  }
  const client = await pool.connect();
  try {
    const [, , rows] = await Promise.all([
      client.query<PageRow>('BEGIN READ ONLY'),
      client.query<PageRow>({ ...SET_TENANT, values: [key.organization_id, 'off'] }),
      ...page.statements.map(({ text, values }, index) =>
        client.query<PageRow>({ name: page.prefix + String(index), text, values }),
      ),
      client.query<PageRow>('COMMIT'),
    ]);
    return [200, `{"data":[${rows.rows[0]!.data}],"meta":${page.meta}}`, page.headers];
  } finally {
    client.release();
  }
}
