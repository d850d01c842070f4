import { Controller, Get, HttpCode } from '@nestjs/common';
import sql from 'sql-template-tag';
import { Database } from '@app/database';
import { CurrentCaller, RequireScopes } from '../../../apps/api/src/http/auth/access.decorators.js';
import type { Caller } from '../../../apps/api/src/http/auth/caller.js';
import { ApiError } from '../../../apps/api/src/http/errors/api-error.js';
import { Documented } from '../../../apps/api/src/http/openapi/operation.decorator.js';
import { PathId } from '../../../apps/api/src/http/validation/path-id.js';
import { Patch } from '../../../apps/api/src/http/writes/write-methods.js';
import { keyedRoutes } from '../../support/http/routes.js';
import { TenancySweep } from '../../support/http/tenancy-sweep.js';
import { fixture } from '../../support/process/fixture.js';

/** Statements that forget the organization. */
@Controller('v1/planted')
class Planted {
  constructor(private readonly db: Database) {}

  @Get('sessions/:session_id')
  @RequireScopes('read')
  @Documented({ id: 'planted_read', summary: 'Planted.', answer: null })
  async read(@CurrentCaller() caller: Caller, @PathId('session_id') id: string) {
    const [[session]] = await this.db.read<[{ title: string }]>(caller, sql`SELECT title FROM sessions WHERE id = ${id}`);
    if (!session) throw ApiError.notFound();
    return session;
  }

  @Patch('groups/:group_id')
  @RequireScopes('write')
  @HttpCode(200)
  @Documented({ id: 'planted_write', summary: 'Planted.', answer: null })
  async write(@PathId('group_id') id: string) {
    const changed = await this.db.query(sql`
      WITH changed AS (UPDATE student_groups SET updated_at = now() WHERE id = ${id} RETURNING updated_at)
      SELECT updated_at FROM changed`);
    if (changed.length === 0) throw ApiError.notFound();
    return changed[0];
  }
}

/** Sweeps the planted routes only. */
async function findings(sweep: TenancySweep): Promise<string[]> {
  const planted = keyedRoutes(sweep.api).filter(({ path }) => path.startsWith('/v1/planted'));
  expect(planted).toHaveLength(2);
  const reads = await sweep.foreignReads(planted.filter(({ method }) => method === 'GET'));
  const { wrong } = await sweep.foreignWrites(planted.filter(({ method }) => method !== 'GET'));
  return [...new Set([...reads, ...wrong].map((line) => line.replace(/=.*/s, '')))];
}

const strict = await fixture(TenancySweep.open({ controllers: [Planted] }));
const open = await fixture(TenancySweep.open({ controllers: [Planted], rowSecurity: false }));

it('a SELECT and an UPDATE that forget the organization are named once row-level security is off', async () => {
  expect(await findings(open)).toEqual([
    'GET /v1/planted/sessions/{session_id} session_id',
    'PATCH /v1/planted/groups/{group_id} group_id',
    'event_changes has changed',
    'student_groups has changed',
  ]);
});

it('row-level security alone hides them', async () => {
  expect(await findings(strict)).toEqual([]);
});
