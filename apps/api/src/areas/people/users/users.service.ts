import { Injectable } from '@nestjs/common';
import { type NewPerson, type ProvisioningResult, Provisioning, type RefusedPerson } from '@app/people';
import type { Scope } from '@app/accounts';
import { Audit, type Caller, type JsonText, Records } from '../../../http/kit.js';
import { toParent, toStudent, toTutor } from '../people.dto.js';
import { type BulkInvite, type FindUser, RefusedRow, type Row } from './users.dto.js';
import { personByEmail, personByPhone } from './users.queries.js';
import type { BulkInviteAnswer, ResultItem } from './users.view.js';

/** Finds people of all kinds, and provisions them in one call. */
@Injectable()
export class UsersService {
  constructor(
    private readonly records: Records,
    private readonly provisioning: Provisioning,
    private readonly audit: Audit,
  ) {}

  /** @throws ApiError 404 for nobody of the organization */
  find(caller: Caller, { email, phone }: FindUser): Promise<JsonText> {
    return this.records.get(caller, email === undefined ? personByPhone(caller, phone!) : personByEmail(caller, email));
  }

  async invite(caller: Caller, { users }: BulkInvite): Promise<BulkInviteAnswer> {
    const outcomes = await this.provisioning.provision(caller, users.map(toPerson));
    const results = users.map((row, index) => toResult(row, index, outcomes[index]!));
    const summary = summarize(results);
    const ids = results.filter(({ status }) => status === 'ok').map(({ id }) => id!);
    this.audit.note({ user_ids: ids, exists: summary.exists, errors: summary.errors });
    return { results, summary };
  }
}

/** The scopes that the request requires: one for each kind of row. */
export function scopesOfRows({ users }: BulkInvite): Scope[] {
  const needed = users.map(({ type }) => (type === 'tutor' ? 'tutors:write' : 'students:write'));
  return [...new Set(needed)].sort();
}

function toPerson(row: Row): NewPerson | RefusedPerson {
  if (row instanceof RefusedRow) return row.person;
  if (row.type === 'student') return toStudent(row);
  return row.type === 'tutor' ? toTutor(row) : toParent(row);
}

function toResult({ type, email = null }: Row, index: number, outcome: ProvisioningResult): ResultItem {
  const row = { index, type, email, status: outcome.status };
  if (outcome.status === 'error') {
    return { ...row, id: null, created: null, invited: null, error: outcome.refusal.reason };
  }
  const { id, created, invited } = outcome;
  return { ...row, id, created, invited, error: null };
}

function summarize(results: ResultItem[]): BulkInviteAnswer['summary'] {
  const count = (holds: (result: ResultItem) => boolean) => results.filter(holds).length;
  return {
    total: results.length,
    ok: count(({ status }) => status === 'ok'),
    exists: count(({ status }) => status === 'exists'),
    errors: count(({ status }) => status === 'error'),
    created: count(({ created }) => created === true),
  };
}
