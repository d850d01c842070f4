import { Injectable } from '@nestjs/common';
import { Completion } from '@app/billing';
import { Bookings, SessionChanges } from '@app/scheduling';
import { Audit, type Caller, type JsonText, Records } from '../../../http/kit.js';
import { changeBy, type CreateSession, type UpdateSession, wantedBy } from '../booking.dto.js';
import { attendedBy, type CancelSession, type CompleteSession } from './sessions.dto.js';
import { SESSION } from './sessions.queries.js';

@Injectable()
export class SessionsService {
  constructor(
    private readonly records: Records,
    private readonly bookings: Bookings,
    private readonly changes: SessionChanges,
    private readonly completion: Completion,
    private readonly audit: Audit,
  ) {}

  async create(caller: Caller, body: CreateSession): Promise<JsonText> {
    const { wanted, time } = wantedBy(body);
    return this.written(caller, await this.bookings.book(caller.organizationId, wanted, time));
  }

  async update(caller: Caller, id: string, body: UpdateSession): Promise<JsonText> {
    const changed = await this.changes.change(caller.organizationId, id, changeBy(body));
    return this.written(caller, id, changed);
  }

  async complete(caller: Caller, id: string, body: CompleteSession): Promise<JsonText> {
    return this.written(caller, id, await this.completion.complete(caller.organizationId, id, attendedBy(body)));
  }

  async reopen(caller: Caller, id: string): Promise<JsonText> {
    return this.written(caller, id, await this.completion.reopen(caller.organizationId, id));
  }

  async cancel(
    caller: Caller,
    id: string,
    { reason = null, charge_percent: percent = null }: CancelSession,
  ): Promise<JsonText> {
    const cancelled = await this.completion.cancel(caller.organizationId, id, reason, percent);
    if (cancelled) this.audit.note({ charge_percent: percent ?? 0 });
    return this.written(caller, id, cancelled);
  }

  async remove(caller: Caller, id: string): Promise<void> {
    await this.changes.remove(caller.organizationId, id);
    this.audit.note({ session_id: id });
  }

  private written(caller: Caller, id: string, changed = true): Promise<JsonText> {
    this.audit.note({ session_id: id }, changed);
    return this.records.written(caller, SESSION, id);
  }
}
