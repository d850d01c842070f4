import { Controller, Get, HttpCode, Param } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import sql from 'sql-template-tag';
import { v7 as uuidv7 } from 'uuid';
import { Database } from '@app/database';
import { listOf, text } from '@app/fields';
import { CurrentCaller, RequireScopes } from '../../../apps/api/src/http/auth/access.decorators.js';
import type { Caller } from '../../../apps/api/src/http/auth/caller.js';
import { ApiError, ValidationFailed } from '../../../apps/api/src/http/errors/api-error.js';
import { Documented } from '../../../apps/api/src/http/openapi/operation.decorator.js';
import { bodyField, OneOf, Text } from '../../../apps/api/src/http/validation/fields.js';
import { JsonText } from '../../../apps/api/src/http/views/json-text.js';
import { Audit } from '../../../apps/api/src/http/writes/audit.js';
import { ValidBody } from '../../../apps/api/src/http/validation/declared.js';
import { Patch, Post } from '../../../apps/api/src/http/writes/write-methods.js';

const ENDS = ['well', '404', '409', '412', '422', '500', 'sql', 'killed'] as const;

/** What a probe does: creates a subject with this name, then ends this way. */
export class Wish {
  @Text({ min: 1, max: 200 }, { required: true })
  name: string;

  @OneOf(ENDS)
  ends?: (typeof ENDS)[number];

  @bodyField(listOf(text({ max: 50 }), { max: 10 }))
  tags?: string[];
}

/** Lets tests hook into probes that run in their process. */
export const hooks: { afterEffect: (name: string) => Promise<void>; runs: number } = { afterEffect: () => Promise.resolve(), runs: 0 };

const documented = (id: string) => Documented({ id: `probe_${id}`, summary: 'A probe of the tests', answer: null });

/** Routes with behaviour that no real route has. Their effect is a row in `subjects`. */
@Controller('v1/probes')
export class Probe {
  constructor(
    private readonly db: Database,
    private readonly module: ModuleRef,
  ) {}

  @Post('')
  @RequireScopes('write')
  @documented('create')
  create(@CurrentCaller() caller: Caller, @ValidBody(Wish) wish: Wish) {
    return this.leave(caller, wish);
  }

  @Post(':probe_id/again')
  @RequireScopes('write')
  @HttpCode(200)
  @documented('again')
  async again(@CurrentCaller() caller: Caller, @Param('probe_id') at: string, @ValidBody(Wish) wish: Wish) {
    const { id } = await this.leave(caller, wish);
    return new JsonText(`{ "id":"${id}",  "at":${JSON.stringify(at)} }`);
  }

  @Post('empty')
  @RequireScopes('write')
  @HttpCode(204)
  @documented('empty')
  async empty(@CurrentCaller() caller: Caller, @ValidBody(Wish) wish: Wish) {
    await this.leave(caller, wish);
  }

  @Patch('')
  @RequireScopes('write')
  @documented('update')
  update(@CurrentCaller() caller: Caller, @ValidBody(Wish) wish: Wish) {
    return this.leave(caller, wish);
  }

  /** A write inside a read. */
  @Get('reads')
  @RequireScopes('read')
  @documented('read')
  read(@CurrentCaller() caller: Caller) {
    return this.db.read(caller, sql`INSERT INTO subjects (id, organization_id, name) VALUES (${uuidv7()}, ${caller.organizationId}, 'read')`);
  }

  private async leave({ organizationId }: Caller, { name, ends = 'well' }: Wish): Promise<{ id: string; name: string }> {
    hooks.runs++;
    const id = uuidv7();
    await this.db.query(sql`
      INSERT INTO subjects (id, organization_id, name) VALUES (${id}, ${organizationId}, ${`${name} ${id}`})`);
    this.module.get(Audit, { strict: false }).note({ probe_id: id });
    await hooks.afterEffect(name);
    if (ends === '404') throw ApiError.notFound();
    if (ends === '409') throw new ApiError('invalid_state', 'Not now.');
    if (ends === '412') throw new ApiError('precondition_failed', 'Not this version.');
    if (ends === '422') throw new ValidationFailed([{ loc: ['body', 'name'], msg: 'No.', type: 'value_error' }]);
    if (ends === '500') throw new Error('The probe failed');
    if (ends === 'sql') await this.db.query(sql`SELECT 1 / (SELECT count(*) FROM subjects WHERE id IS NULL)`);
    if (ends === 'killed') await this.db.query(sql`SELECT pg_terminate_backend(pg_backend_pid())`);
    return { id, name };
  }
}
